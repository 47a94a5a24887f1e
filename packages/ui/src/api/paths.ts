// Where the application lies. All its pages are one step below `…/ui/`, and what it asks is beside:
// nothing is known of what a proxy puts before, and relative addresses lead right from every page.

/**
 * Path of the application without the page, with a slash at the end: `/ui/`, or `/prefix/ui/`
 * behind a proxy.
 */
export const BASE_PATH = location.pathname.slice(0, location.pathname.lastIndexOf('/ui/') + 4);

/** Path of the page's server, with a slash at the end. */
export const SERVER_PATH = BASE_PATH.slice(0, -'ui/'.length);
