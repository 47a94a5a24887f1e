// The input of a try-out: typed points, a time span from the database, or a recording.
import type { Recording } from '@tidemark/client';

import { engine } from '../../api/clients.ts';
import { useResource } from '../../api/use-resource.ts';
import { Choice } from '../../design/button.tsx';
import { SelectField, TextArea, TextField } from '../../design/field.tsx';
import { Panel } from '../../design/panel.tsx';
import { Failure, Notice } from '../../design/states.tsx';
import { RangePicker } from '../../time/range-picker.tsx';
import { formatTime, shownZone } from '../../time/zone.ts';
import { texts } from '../../texts/texts.ts';
import * as state from './state.ts';

const t = texts.tryOut;

export function DataForm() {
  const { source } = state;
  return (
    <Panel
      title={t.data}
      controls={
        <Choice
          label={t.source}
          value={source.value}
          options={state.SOURCES.map((value) => ({ value, label: t.sources[value] }))}
          onChange={(next) => (source.value = next)}
        />
      }
    >
      <div class="form">
        <TextField
          label={t.dbrps}
          hint={t.dbrpsHint}
          value={state.dbrps.value}
          onInput={(text) => (state.dbrps.value = text)}
        />
        {source.value === 'points' ? (
          <TypedPoints />
        ) : source.value === 'database' ? (
          <div class="row">
            <span class="muted">{t.span}</span>
            <RangePicker
              range={state.range.value}
              onChange={(next) => (state.range.value = next)}
            />
          </div>
        ) : (
          <Recordings />
        )}
        <TextField
          label={t.goesOn}
          hint={t.goesOnHint}
          placeholder="0s"
          value={state.goesOn.value}
          onInput={(text) => (state.goesOn.value = text)}
        />
      </div>
    </Panel>
  );
}

function TypedPoints() {
  return (
    <>
      <TextArea
        label={t.points}
        hint={t.linesHint}
        rows={8}
        value={state.points.value}
        onInput={(text) => (state.points.value = text)}
      />
      <SelectField
        label={t.precision}
        value={state.precision.value}
        options={Object.entries(texts.write.precisions).map(([value, label]) => ({
          value,
          label,
        }))}
        onChange={(next) => (state.precision.value = next)}
      />
    </>
  );
}

async function finished(): Promise<readonly Recording[]> {
  const list: Recording[] = [];
  for await (const each of engine.recordings()) if (each.status === 'finished') list.push(each);
  return list;
}

function Recordings() {
  const found = useResource(finished, []);
  const { error } = found;
  const list = found.value.value;
  if (list === undefined) {
    return error.value === undefined ? null : (
      <Failure error={error.value} onRetry={() => void found.reload()} />
    );
  }
  if (list.length === 0) return <Notice>{t.noRecordings}</Notice>;
  const isKnown = list.some(({ id }) => id === state.recording.value);
  if (!isKnown) state.recording.value = list[0]?.id ?? '';
  return (
    <SelectField
      label={t.recording}
      value={state.recording.value}
      options={list.map(({ id, type, date }) => ({
        value: id,
        label: `${formatTime(date, shownZone.value)} ${type} ${id}`,
      }))}
      onChange={(next) => (state.recording.value = next)}
    />
  );
}
