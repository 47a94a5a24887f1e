// Patterns of topics, as the task engine has them: `*` is any text, `?` any letter.

export function matchesPattern(text: string, pattern: string): boolean {
  const source = pattern
    .replaceAll(/[\\^$.+()[\]{}|]/g, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return pattern === '' || new RegExp(`^${source}$`).test(text);
}
