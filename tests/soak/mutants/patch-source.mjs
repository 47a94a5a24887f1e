// Loaded before everything else (`--import`): gives the program the source of some files with a
// text replaced, as MUTANT says (`mutant.ts`). Whatever translates TypeScript translates that.
import { register } from 'node:module';

register(new URL('./patch-hooks.mjs', import.meta.url), {
  data: JSON.parse(process.env.MUTANT ?? '[]'),
});
