// Sign-in on top of the current page: an expired session loses nothing on the page.
import { useSignal } from '@preact/signals';

import { isSignInWanted, signIn } from '../api/session.ts';
import { problemOf } from '../api/problem.ts';
import { Button } from '../design/button.tsx';
import { Dialog } from '../design/dialog.tsx';
import { TextField } from '../design/field.tsx';
import { Notice } from '../design/states.tsx';
import { texts } from '../texts/texts.ts';

const t = texts.signIn;

/** The dialog, shown when a service requires a session. */
export function SignIn() {
  const username = useSignal('');
  const password = useSignal('');
  const problem = useSignal('');
  const isBusy = useSignal(false);
  if (!isSignInWanted.value) return null;

  const submit = async (): Promise<void> => {
    isBusy.value = true;
    problem.value = '';
    try {
      problem.value = (await signIn(username.value, password.value)) ?? '';
      password.value = '';
    } catch (error) {
      problem.value = problemOf(error).message;
    } finally {
      isBusy.value = false;
    }
  };

  return (
    <Dialog title={t.title} onClose={() => (isSignInWanted.value = false)}>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p class="muted">{t.why}</p>
        {problem.value === '' ? null : <Notice kind="bad">{problem.value}</Notice>}
        <TextField
          label={t.user}
          name="username"
          autocomplete="username"
          autofocus
          required
          value={username.value}
          onInput={(value) => (username.value = value)}
        />
        <TextField
          label={t.password}
          name="password"
          type="password"
          autocomplete="current-password"
          value={password.value}
          onInput={(value) => (password.value = value)}
        />
        <div class="row">
          <Button kind="primary" type="submit" isBusy={isBusy.value}>
            {t.action}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
