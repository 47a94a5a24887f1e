// The output of a node, live.
import { printLossless } from '@tidemark/client';
import { useSignal } from '@preact/signals';

import { engine } from '../../api/clients.ts';
import { Button } from '../../design/button.tsx';
import { TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Failure, Notice } from '../../design/states.tsx';
import { texts } from '../../texts/texts.ts';
import { useFollowed } from './follow.ts';

const t = texts.tasks;

type Message = Readonly<Record<string, unknown>>;

export function Tap({ task, node }: { readonly task: string; readonly node: string }) {
  const isPaused = useSignal(false);
  const group = useSignal('');
  const { lines, count, problem, hasEnded } = useFollowed(
    (signal) => engine.tap(task, node, { group: group.value, signal }),
    [task, node, group.value],
    isPaused.value,
  );
  return (
    <Panel
      title={t.tapOf(node)}
      controls={
        <>
          <span class="muted small">{t.messages(count.value)}</span>
          <TextField
            label={t.group}
            isLabelHidden
            placeholder={t.groupExample}
            value={group.value}
            onInput={(text) => (group.value = text)}
          />
          <Button
            isSmall
            icon={isPaused.value ? 'play' : 'pause'}
            onClick={() => (isPaused.value = !isPaused.value)}
          >
            {isPaused.value ? t.goOn : t.pause}
          </Button>
        </>
      }
    >
      {problem.value === undefined ? null : <Failure error={problem.value} />}
      {hasEnded.value ? <Notice>{t.tapEnded}</Notice> : null}
      {lines.value.length === 0 ? <p class="muted">{t.tapWaiting}</p> : null}
      <ol class="messages" tabIndex={0} aria-label={t.tapOf(node)}>
        {lines.value.map((line, i) => (
          <MessageLine key={count.value - i} message={line as Message} />
        ))}
      </ol>
    </Panel>
  );
}

function MessageLine({ message }: { readonly message: Message }) {
  const { kind, group, time, name, node: _node, ...rest } = message;
  return (
    <li>
      <span class="muted">{String(time ?? '')}</span>{' '}
      {kind === 'point' ? null : <b>{String(kind)} </b>}
      {name === undefined ? null : `${String(name)} `}
      {group === undefined || group === '' ? null : <code>{String(group)} </code>}
      <code>{printLossless(rest)}</code>
    </li>
  );
}
