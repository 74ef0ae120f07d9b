/** The module of the filter, packed by gzip, as base64. The build puts it here (scripts/build.mjs); none is there before. */
export const FILTER_BYTES = '';
