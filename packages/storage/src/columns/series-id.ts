// Series have numbers inside one database; everything but the series index knows them by these.

/** Dense, ascending, never used again within a database. */
export type SeriesId = number;
