// Public interface of @tidemark/ui for servers: the folder of the built application.

/** Folder of the built application (index.html and assets), created by `npm run build:ui`. */
export const UI_DIRECTORY = new URL('../build/', import.meta.url);
