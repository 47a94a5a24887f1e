// shift: moves points and batches in time.

export type ShiftOptions = { readonly shiftNanos: bigint };
