// httpOut: keeps the latest row of each group and serves it over HTTP.

export type HttpOutOptions = { readonly endpoint: string };
