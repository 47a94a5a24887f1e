// Levels of events, and the topics to choose from.
import { engine } from '../../api/clients.ts';
import { taskOfTopic } from '../../api/events.ts';
import { useResource } from '../../api/use-resource.ts';
import { Link } from '../../app/link.tsx';
import { route, setParams } from '../../app/router.ts';
import { SelectField } from '../../design/field.tsx';
import { Badge } from '../../design/states.tsx';
import { LEVEL_KINDS } from '../../try-out/fired.tsx';
import { texts } from '../../texts/texts.ts';

const t = texts.alerts;

export function LevelBadge({ level }: { readonly level: string }) {
  const kind = (LEVEL_KINDS as Readonly<Record<string, 'good' | 'accent' | 'warn' | 'bad'>>)[level];
  return <Badge kind={kind ?? 'plain'}>{level}</Badge>;
}

/**
 * Duration of a level. A point older than the one that began the level makes it negative; shown as
 * 0s.
 */
export const shownDuration = (duration: string): string =>
  duration.startsWith('-') ? '0s' : duration;

/** The topic in the address; '' means all. */
export const chosenTopic = (): string => route.value.params.get('topic') ?? '';

/** Selects the topic in the address. */
export function TopicField() {
  const found = useResource(() => engine.topics(), []);
  const names = (found.value.value ?? []).map(({ id }) => id);
  const topic = chosenTopic();
  return (
    <SelectField
      label={t.topic}
      value={topic}
      options={[
        { value: '', label: t.all },
        ...(topic === '' || names.includes(topic) ? names : [topic, ...names]),
      ]}
      onChange={(next) => setParams({ topic: next })}
    />
  );
}

/** A topic; that of a node leads to its task. */
export function TopicLink({ topic }: { readonly topic: string }) {
  const task = taskOfTopic(topic);
  if (task === undefined) return <>{topic}</>;
  return (
    <Link page="tasks" params={{ id: task }}>
      {topic}
    </Link>
  );
}
