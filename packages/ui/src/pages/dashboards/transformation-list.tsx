// Transformations of a result before it is shown, step by step.
import { CALC_NAMES, isCalc } from '../../charts/calc.ts';
import { TRANSFORMATION_KINDS, transformationOf } from '../../cells/options/transformations.ts';
import type { Transformation } from '../../cells/options/transformations.ts';
import { CheckField, SelectField, TextArea, TextField } from '../../design/field.tsx';
import { texts } from '../../texts/texts.ts';
import { CalcList } from './calc-list.tsx';
import { NumberField } from './number-field.tsx';
import { RowList } from './row-list.tsx';

const t = texts.cells;

type Change = (changed: object) => void;

export function TransformationList({
  transformations,
  onChange,
}: {
  readonly transformations: readonly Transformation[];
  readonly onChange: (transformations: readonly Transformation[]) => void;
}) {
  return (
    <RowList<Transformation>
      title={t.transformations}
      itemTitle={t.transformation}
      add={t.addTransformation}
      items={transformations}
      newItem={{ kind: 'rename', names: {} }}
      onChange={onChange}
    >
      {(step, change) => (
        <>
          <SelectField
            label={t.transformationKind}
            value={step.kind}
            options={TRANSFORMATION_KINDS.map((kind) => ({
              value: kind,
              label: t.transformationKinds[kind],
            }))}
            onChange={(kind) => change(transformationOf({ kind }))}
          />
          <StepFields step={step} change={change} />
        </>
      )}
    </RowList>
  );
}

const linesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => line.trim() !== '');

function StepFields({ step, change }: { readonly step: Transformation; readonly change: Change }) {
  switch (step.kind) {
    case 'rename':
      return (
        <TextArea
          label={t.names}
          hint={t.renameHint}
          rows={3}
          value={Object.entries(step.names)
            .map(([from, to]) => `${from} = ${to}`)
            .join('\n')}
          onInput={(text) =>
            change({
              names: Object.fromEntries(
                linesOf(text).map((line) => {
                  const [from = '', to = ''] = line.split(/\s+=\s*/, 2);
                  return [from, to];
                }),
              ),
            })
          }
        />
      );
    case 'rename-pattern':
      return (
        <>
          <TextField
            label={t.pattern}
            value={step.pattern}
            onInput={(pattern) => change({ pattern })}
          />
          <TextField label={t.word} value={step.to} onInput={(to) => change({ to })} />
        </>
      );
    case 'order':
      return <Names names={step.names} change={change} />;
    case 'hide':
    case 'keep':
      return (
        <>
          <Names names={step.names} change={change} />
          <TextField
            label={t.pattern}
            value={step.pattern}
            onInput={(pattern) => change({ pattern })}
          />
        </>
      );
    case 'queries':
      return (
        <TextField
          label={t.queryLetters}
          value={step.pattern}
          onInput={(pattern) => change({ pattern })}
        />
      );
    case 'reduce':
      return (
        <CalcList
          label={t.figures}
          calcs={step.calcs.length === 0 ? CALC_NAMES.slice(0, 1) : step.calcs.filter(isCalc)}
          onChange={(calcs) => change({ calcs })}
        />
      );
    case 'sort':
      return (
        <>
          <TextField label={t.column} value={step.by} onInput={(by) => change({ by })} />
          <CheckField
            label={t.isDown}
            isChecked={step.isDown}
            onChange={(isDown) => change({ isDown })}
          />
        </>
      );
    case 'limit':
      return (
        <NumberField
          label={t.rowCount}
          value={step.count}
          onChange={(count) => change({ count: count ?? 0 })}
        />
      );
  }
}

function Names({ names, change }: { readonly names: readonly string[]; readonly change: Change }) {
  return (
    <TextArea
      label={t.names}
      hint={t.namesHint}
      rows={3}
      value={names.join('\n')}
      onInput={(text) => change({ names: linesOf(text) })}
    />
  );
}
