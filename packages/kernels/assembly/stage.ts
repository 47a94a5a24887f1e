// The staged point: one point after it was read and before it is appended, with its series, time
// and field values.
import { POINT_FIELDS_MAX } from './abi.gen';
import { allocatePages } from './memory';

@unmanaged
export class StagedField {
  field: u32;
  type: u32;
  /** The value; of a string, its address and length. */
  bits: u64;
}

let fields: usize = 0;
let columns: usize = 0;
let count: u32 = 0;

/** Id of the series; NO_SERIES when it must be created from `stagedKey`. */
export let stagedSeries: u32 = 0;
export let stagedMeasurement: u32 = 0;
export let stagedKey: usize = 0;
export let stagedKeyLength: u32 = 0;
export let stagedKeyHash: u32 = 0;
// The text of the section, to be added to the cache; length 0 for none.
export let stagedText: usize = 0;
export let stagedTextLength: u32 = 0;
export let stagedTextHash: u32 = 0;
export let stagedTime: i64 = 0;
export let isStaged: bool = false;

export function stageSeries(series: u32, measurement: u32): void {
  if (fields === 0) {
    fields = allocatePages(<usize>POINT_FIELDS_MAX * offsetof<StagedField>());
    columns = allocatePages(<usize>POINT_FIELDS_MAX * 4);
    if (fields === 0 || columns === 0) unreachable();
  }
  stagedSeries = series;
  stagedMeasurement = measurement;
  stagedTextLength = 0;
  count = 0;
}
@inline
export function stageKey(key: usize, length: u32, hash: u32): void {
  stagedKey = key;
  stagedKeyLength = length;
  stagedKeyHash = hash;
}
@inline
export function stageText(text: usize, length: u32, hash: u32): void {
  stagedText = text;
  stagedTextLength = length;
  stagedTextHash = hash;
}
/** Adds a field. Returns false when the point has too many. */
@inline
export function stageField(field: u32, type: u32, bits: u64): bool {
  if (count === POINT_FIELDS_MAX) return false;
  const staged = stagedField(count++);
  staged.field = field;
  staged.type = type;
  staged.bits = bits;
  return true;
}
@inline
export function finishStage(time: i64): void {
  stagedTime = time;
  isStaged = true;
}
@inline
export function clearStage(): void {
  isStaged = false;
}
@inline
export function resolveSeries(series: u32): void {
  stagedSeries = series;
}
@inline
export function stagedCount(): u32 {
  return count;
}
@inline
export function stagedField(index: u32): StagedField {
  return changetype<StagedField>(fields + <usize>index * offsetof<StagedField>());
}
/** Address of the column for field `index`. */
@inline
export function stageColumn(index: u32, column: usize): void {
  store<u32>(columns + <usize>index * 4, <u32>column);
}
@inline
export function stagedColumn(index: u32): usize {
  return <usize>load<u32>(columns + <usize>index * 4);
}
