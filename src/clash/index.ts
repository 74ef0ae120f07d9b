export { clash } from './clash.js';
export { type BcfOptions, toBcf } from './output/bcf.js';
export { toCsv } from './output/csv.js';
export { toJson } from './output/json.js';
export type {
  Clash,
  ClashGroup,
  ClashOptions,
  ClashProgress,
  ClashReport,
  ClashStatus,
  ClearanceRule,
  DuplicatesRule,
  HardRule,
  Part,
  PartName,
  Pattern,
  Properties,
  ReportOptions,
  Rule,
  Selector,
  Unread,
} from './types.js';
