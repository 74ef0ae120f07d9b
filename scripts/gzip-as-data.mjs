/**
 * Vite plugin: a .gz file stays compressed for those who fetch it. Vite's servers, development and preview, declare
 * it as `Content-Encoding: gzip`, so the browser would unpack it unasked; most servers of static files do not.
 */
export function gzipAsData() {
  const hook = ({ middlewares }) => void middlewares.use(withoutEncoding);
  return { name: 'gzip-as-data', configureServer: hook, configurePreviewServer: hook };
}

function withoutEncoding(request, response, next) {
  if (/\.gz($|\?)/.test(request.url ?? '')) {
    // Else the preview's own compression comes in between.
    delete request.headers['accept-encoding'];
    const { writeHead } = response;
    response.writeHead = (status, headers) => {
      if (headers?.['Content-Encoding'] === 'gzip') {
        delete headers['Content-Encoding'];
        headers['Content-Type'] = 'application/gzip';
      }
      return writeHead.call(response, status, headers);
    };
  }
  next();
}
