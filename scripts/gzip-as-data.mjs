/**
 * Vite plugin: serves .gz files without decompressing them. Vite's development and preview servers declare them as
 * `Content-Encoding: gzip`, so the browser would decompress them; most static file servers do not.
 */
export function gzipAsData() {
  const hook = ({ middlewares }) => void middlewares.use(withoutEncoding);
  return { name: 'gzip-as-data', configureServer: hook, configurePreviewServer: hook };
}

function withoutEncoding(request, response, next) {
  if (/\.gz($|\?)/.test(request.url ?? '')) {
    // Otherwise the preview's own compression interferes.
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
