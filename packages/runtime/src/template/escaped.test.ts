// Details: what `html` has escaped is not escaped again.
import { expect, test } from 'vitest';
import { Template } from './template.ts';
import { TemplateMap, TemplateStruct } from './value.ts';

const data = new TemplateStruct('data', new Map([['Tags', new TemplateMap([['h', '<a+b>']], '')]]));

test.each([
  ['{{ .Tags.h }}', '&lt;a&#43;b&gt;'],
  ['{{ .Tags.h | html }}', '&lt;a+b&gt;'],
  ['{{ html .Tags.h }}', '&lt;a+b&gt;'],
  ['<b title="{{ .Tags.h | html }}">', '<b title="&lt;a+b&gt;">'],
  ['{{ .Tags.h | html | print }}', '&amp;lt;a&#43;b&amp;gt;'],
  ['{{ .Tags.none }}', ''],
  ['{{ .Tags.none | html }}', '&lt;no value&gt;'],
])('%s', (source, text) => {
  expect(new Template('details', source, { isHtml: true }).execute(data)).toBe(text);
});
