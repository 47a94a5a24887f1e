// Named parts of templates: define, template and block.
import { expect, test } from 'vitest';
import { Template } from './template.ts';
import { TemplateMap, TemplateStruct } from './value.ts';

const DATA = new TemplateStruct('d', {
  ID: 'i<d',
  Tags: new TemplateMap([['host', 'a']], ''),
  List: [1n, 2n],
});

test.each([
  ['{{define "x"}}<{{.}}>{{end}}{{template "x" .ID}}{{template "x" .Tags.host}}', '<i<d><a>'],
  ['{{template "x"}}{{define "x"}}[{{.}}]{{end}}', '[<no value>]'],
  ['{{block "x" .ID}}({{.}}){{end}} {{template "x" 5}}', '(i<d) (5)'],
  ['{{range .List}}{{template "x" .}}{{end}}{{define "x"}}{{$}},{{end}}', '1,2,'],
  ['{{$a := 1}}{{define "x"}}{{$a := 2}}{{$a}}{{end}}{{template "x"}}{{$a}}', '21'],
  ['{{define "x"}}1{{end}}{{define "x"}}2{{end}}{{template "x"}}', '2'],
])('%s', (source, expected) => {
  expect(new Template('t', source).execute(DATA)).toBe(expected);
});

test('values are escaped where the part stands', () => {
  const source =
    '{{define "x"}}{{.}}{{end}}<a href="{{template "x" .ID}}">{{template "x" .ID}}</a>';

  expect(new Template('t', source, { isHtml: true }).execute(DATA)).toBe(
    '<a href="i%3Cd">i&lt;d</a>',
  );
});

test.each([
  ['{{template "x"}}', 'template: t:1: template "x" not defined'],
  ['{{template x}}', 'missing name of {{template}}'],
  ['{{define "x"}}', 'unexpected EOF'],
  ['{{define "x"}}{{else}}{{end}}', 'unexpected {{else}} in define clause'],
  ['{{if true}}{{define "x"}}{{end}}{{end}}', 'unexpected {{define}}'],
  ['{{block "x"}}{{end}}', 'missing value for block clause'],
  ['{{$a := 1}}{{define "x"}}{{$a}}{{end}}', 'undefined variable "$a"'],
  ['{{range .List}}{{define "x"}}{{break}}{{end}}{{end}}', 'unexpected {{define}}'],
  ['{{ nil }}', 'nil is not a command'],
  ['{{ if nil }}{{end}}', 'nil is not a command'],
])('%s is refused', (source, reason) => {
  expect(() => new Template('t', source)).toThrow(reason);
});

test('a part that runs itself ends', () => {
  const template = new Template('t', '{{define "x"}}{{template "x"}}{{end}}{{template "x"}}');

  expect(() => template.execute(DATA)).toThrow('exceeded maximum template depth (100)');
});
