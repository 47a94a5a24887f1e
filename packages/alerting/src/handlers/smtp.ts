// smtp: mail. The subject is the message, the HTML body the details.
import { InvalidRequest, isLoopback, messageOf, Unavailable } from '@tidemark/core';
import type { Transporter } from 'nodemailer';
import {
  durationMs,
  flag,
  integer,
  strings,
  text,
  bool,
  enabled,
  GLOBAL,
  list,
  secret,
  STATE_CHANGES_ONLY,
  str,
} from '@tidemark/settings';
import type { SectionSpec, Options } from '@tidemark/settings';
import type { Closable, HandlerContext, HandlerKind } from '../handler.ts';
import { templateScope } from '../handler.ts';
import { enabledSection } from './service.ts';

const TLS_MODES = ['', 'implicit', 'starttls', 'off'];
const IMPLICIT_TLS_PORT = 465;

const ADDRESS = /^[^\s@<>]+@[^\s@<>]+$/;

const section: SectionSpec = {
  name: 'smtp',
  doc: 'Mail server.',
  options: [
    enabled(),
    str('host', 'Name or address of the mail server.', 'localhost'),
    { name: 'port', type: 'integer', default: 25, doc: 'Its port; 465 speaks TLS from the start.' },
    str('username', 'User; empty sends without authentication.'),
    secret('password', 'Password of the user.'),
    bool('no-verify', 'Accept any TLS certificate.'),
    {
      ...str(
        'tls',
        '`implicit` from the start, `starttls` or nothing, `off`; empty is `implicit` for port 465, otherwise STARTTLS when it is offered, which it must be where a password would leave the machine.',
      ),
      isShownWhenSet: true,
    },
    GLOBAL,
    STATE_CHANGES_ONLY,
    str('from', 'Sender.'),
    list('to', 'Recipients when a handler names none.'),
    {
      ...list('to-templates', 'More recipients, as templates over the event.'),
      isShownWhenSet: true,
    },
    {
      name: 'idle-timeout',
      type: 'duration',
      default: 30_000_000_000n,
      doc: 'How long an unused connection is kept.',
    },
  ],
  validate: (options) => {
    const port = integer(options, 'port');
    if (text(options, 'host') === '') return 'host cannot be empty';
    if (port <= 0 || port > 65_535) return `invalid port ${port}`;
    if (!TLS_MODES.includes(text(options, 'tls'))) {
      return `invalid tls ${JSON.stringify(text(options, 'tls'))}, expected implicit, starttls or off`;
    }
    if (durationMs(options, 'idle-timeout') <= 0) return 'idle timeout must be positive';
    if (flag(options, 'enabled') && text(options, 'from') === '') {
      return "must provide a 'from' address";
    }
    const from = text(options, 'from');
    if (from !== '' && !isMailbox(from))
      return `invalid from email address: ${JSON.stringify(from)}`;
    const bad = strings(options, 'to').find((address) => !isMailbox(address));
    return bad === undefined ? undefined : `invalid to email address: ${JSON.stringify(bad)}`;
  },
};

// `user@host` or `Name <user@host>`; the mail server has the last word.
function isMailbox(address: string): boolean {
  const inAngles = /<([^<>]*)>\s*$/.exec(address);
  return ADDRESS.test((inAngles?.[1] ?? address).trim());
}

export const smtp: HandlerKind = {
  kind: 'smtp',
  aliases: ['email'],
  doc: 'Sends a mail.',
  options: [
    list('to', 'Recipients; none means the configured ones.', []),
    list('to-field', 'More recipients, as templates over the event.'),
  ],
  section,
  validate: (options) => {
    const bad = strings(options, 'to').find((address) => !isMailbox(address));
    return bad === undefined ? undefined : `invalid to email address: ${JSON.stringify(bad)}`;
  },
  send: async (event, options, context) => {
    const config = enabledSection(context, 'smtp');
    const scope = templateScope(event);
    const named = [
      ...strings(options, 'to'),
      ...strings(options, 'to-field').map((template) => context.render(template, scope)),
    ];
    const configured = [
      ...strings(config, 'to'),
      ...strings(config, 'to-templates').map((template) => context.render(template, scope)),
    ];
    const to = (named.length > 0 ? named : configured).filter((address) => address.trim() !== '');
    await sendMail({ to, subject: event.message, html: event.details }, config, context);
  },
  tests: [
    {
      name: 'smtp',
      configured: ['to'],
      options: [
        list('to', 'Recipients; none means the configured ones.', []),
        str('subject', 'Subject.', 'test subject'),
        str('body', 'HTML body.', 'test body'),
      ],
      run: (options, context) => {
        const config = enabledSection(context, 'smtp');
        const named = strings(options, 'to');
        const mail = {
          to: named.length > 0 ? named : strings(config, 'to'),
          subject: text(options, 'subject'),
          html: text(options, 'body'),
        };
        return sendMail(mail, config, context);
      },
    },
  ],
};

type Mail = { readonly to: readonly string[]; readonly subject: string; readonly html: string };
type MailConnection = Closable & { readonly transport: Transporter };

async function sendMail(mail: Mail, config: Options, context: HandlerContext): Promise<void> {
  if (mail.to.length === 0) throw new InvalidRequest('no recipients for the mail');
  const key = `smtp ${JSON.stringify(config, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}`;
  const connection = await context.connections.use<MailConnection>(
    key,
    durationMs(config, 'idle-timeout'),
    () => connect(config),
  );
  try {
    await connection.transport.sendMail({
      from: text(config, 'from'),
      to: [...mail.to],
      // A line break would end the header.
      subject: mail.subject.replaceAll(/[\r\n]+/g, ' '),
      html: mail.html,
    });
  } catch (cause) {
    await context.connections.discard(key);
    throw mailError(cause);
  }
}

async function connect(config: Options): Promise<MailConnection> {
  // Loaded on first use: most installations send no mail.
  const { createTransport } = await import('nodemailer');
  const user = text(config, 'username');
  const transport = createTransport({
    host: text(config, 'host'),
    port: integer(config, 'port'),
    ...tlsModeOf(config),
    pool: true,
    maxConnections: 1,
    tls: { rejectUnauthorized: !flag(config, 'no-verify') },
    ...(user === '' ? {} : { auth: { user, pass: text(config, 'password') } }),
  });
  return { transport, close: () => transport.close() };
}

/** How a connection to the configured server is encrypted, as the transport wants to know it. */
export function tlsModeOf(config: Options): {
  readonly secure: boolean;
  readonly requireTLS: boolean;
  readonly ignoreTLS: boolean;
} {
  const mode = text(config, 'tls');
  const isImplicit =
    mode === 'implicit' || (mode === '' && integer(config, 'port') === IMPLICIT_TLS_PORT);
  const isExposed = text(config, 'username') !== '' && !isLoopback(text(config, 'host'));
  return {
    secure: isImplicit,
    requireTLS: mode === 'starttls' || (mode === '' && !isImplicit && isExposed),
    ignoreTLS: mode === 'off',
  };
}

// The server said no for good with a status of 5xx; everything else may work later.
function mailError(cause: unknown): Error {
  const message = messageOf(cause);
  const status =
    cause !== null && typeof cause === 'object' && 'responseCode' in cause
      ? cause.responseCode
      : undefined;
  const isFinal = typeof status === 'number' && status >= 500;
  return isFinal ? new InvalidRequest(message, { cause }) : new Unavailable(message, { cause });
}
