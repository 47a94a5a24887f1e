import { expect, test } from 'vitest';

import { RehearsalConnection } from './rehearsal-connection.ts';

test('a server sees a request of the connection as any other', async () => {
  const seen: (string | undefined)[] = [];
  const connection = new RehearsalConnection((request, response) => {
    seen.push(request.method, request.url, request.headers.host);
    response.statusCode = 204;
    response.end();
  });

  expect(await connection.get('/a?b=c')).toBe(204);
  expect(await connection.get('/d')).toBe(204);
  connection.close();

  expect(seen).toEqual(['GET', '/a?b=c', 'rehearsal', 'GET', '/d', 'rehearsal']);
});

test('a body comes in pieces and is whole in the end', async () => {
  const seen: { pieces: number; text: string }[] = [];
  const connection = new RehearsalConnection((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      seen.push({ pieces: pieces.length, text: Buffer.concat(pieces).toString() });
      response.end();
    });
  });
  const text = 'x'.repeat(150_000);

  expect(await connection.post('/write', Buffer.from(text))).toBe(200);
  expect(await connection.post('/write', Buffer.from('small'))).toBe(200);
  connection.close();

  expect(seen).toEqual([
    { pieces: 3, text },
    { pieces: 1, text: 'small' },
  ]);
});
