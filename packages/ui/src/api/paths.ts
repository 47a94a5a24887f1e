// Paths of the application. All pages are one level below `…/ui/`, and all endpoints are beside it.
// The prefix of a proxy is unknown, so every address is relative.

/**
 * Path of the application without the page, with a slash at the end: `/ui/`, or `/prefix/ui/`
 * behind a proxy.
 */
export const BASE_PATH = location.pathname.slice(0, location.pathname.lastIndexOf('/ui/') + 4);

/** Path of the page's server, with a slash at the end. */
export const SERVER_PATH = BASE_PATH.slice(0, -'ui/'.length);
