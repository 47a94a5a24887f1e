// httpPost: posts points to a URL.
import { TestClock } from '@tidemark/testkit';
import { expect, test } from 'vitest';
import type { TaskServices } from '../services.ts';
import { continueIn, never, pushValues, taskOf } from '../testing/continued-task.ts';

test.each(['', `.codeField('code')`])(
  'posts without an answer are sent again: %s',
  async (code) => {
    const script = `stream|from()|httpPost('http://sink')${code}|httpOut('o')`;
    const endpoint = (): undefined => undefined;
    const hanging = taskOf(script, { http: { send: never, endpoint } }, new TestClock());
    await hanging.start();
    pushValues(hanging, [1, 2]);

    const bodies: string[] = [];
    const send: TaskServices['http']['send'] = ({ body }) => {
      bodies.push(body);
      return Promise.resolve({ status: 204, body: '' });
    };
    const next = taskOf(script, { http: { send, endpoint } }, new TestClock());
    await continueIn(next, hanging);
    await next.drain();

    expect(bodies.map((body) => JSON.parse(body).series[0].values[0].at(-1))).toEqual([1, 2]);
    const columns = code === '' ? ['time', 'v'] : ['time', 'code', 'v'];
    expect(next.httpOutput('o')).toMatchObject([{ columns }]);
    await next.close();
    expect(bodies).toHaveLength(2);
  },
);
