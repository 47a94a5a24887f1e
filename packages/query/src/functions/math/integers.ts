// Operators of two integers.
/** The exact result, which the caller wraps; divisions by zero give zero. */
export function integerOperation(operator: string, x: bigint, y: bigint): bigint {
  switch (operator) {
    case '+':
      return x + y;
    case '-':
      return x - y;
    case '*':
      return x * y;
    case '/':
      return y === 0n ? 0n : x / y;
    case '%':
      return y === 0n ? 0n : x % y;
    case '&':
      return x & y;
    case '|':
      return x | y;
    default:
      return x ^ y;
  }
}
