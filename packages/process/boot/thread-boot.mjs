// Starts a thread from TypeScript sources or from the build: workers can not be started from a
// `.ts` file directly.
const program = process.argv[2];

if (program.endsWith('.ts')) {
  const { register } = await import('tsx/esm/api');
  register();
}
await import(program);
