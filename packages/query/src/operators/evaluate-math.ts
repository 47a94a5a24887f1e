// Math functions over columns.
export { evaluateMath } from '../functions/math/evaluate.ts';
