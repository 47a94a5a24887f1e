// The text of a note: headings, lists, bold, code and links in Markdown. Nothing in it is
// interpreted as HTML; a note that is HTML is sanitised first.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const INLINE = /\*\*([^*]+)\*\*|`([^`]+)`|\[([^\]]+)\]\((https?:\/\/[^\s)]+)\)/g;

function inline(text: string): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    const [all, bold, code, label, address] = match;
    parts.push(text.slice(end, match.index));
    if (bold !== undefined) parts.push(<strong>{bold}</strong>);
    else if (code !== undefined) parts.push(<code>{code}</code>);
    else {
      parts.push(
        <a href={address} target="_blank" rel="noopener noreferrer">
          {label}
        </a>,
      );
    }
    end = match.index + all.length;
  }
  parts.push(text.slice(end));
  return parts;
}

export function Note({ text, isHtml }: { readonly text: string; readonly isHtml: boolean }) {
  if (isHtml) return <Html text={text} />;
  const blocks = text.split(/\n{2,}/).filter((block) => block.trim() !== '');
  return (
    <div class="note stack" tabIndex={0} role="group">
      {blocks.map((block, i) => (
        <Block key={i} text={block.trim()} />
      ))}
    </div>
  );
}

/** HTML without anything that runs, loads or sends. */
function Html({ text }: { readonly text: string }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let isShown = true;
    void import('dompurify').then(({ default: purify }) => {
      // Pictures, styles and forms would reach beyond the note.
      const without = { FORBID_TAGS: ['img', 'style', 'form', 'input'], FORBID_ATTR: ['style'] };
      const clean = purify.sanitize(text, { ...without, USE_PROFILES: { html: true } });
      if (isShown && frame.current !== null) frame.current.innerHTML = clean;
    });
    return () => {
      isShown = false;
    };
  }, [text]);
  return <div ref={frame} class="note stack" tabIndex={0} role="group" />;
}

function Block({ text }: { readonly text: string }) {
  const heading = /^(#{1,3}) +([^\n]+)\n?([^]*)$/.exec(text);
  if (heading !== null) {
    const [, , title = '', rest = ''] = heading;
    return (
      <>
        <h3>{inline(title)}</h3>
        {rest.trim() === '' ? null : <Block text={rest.trim()} />}
      </>
    );
  }
  const lines = text.split('\n');
  if (lines.every((line) => /^[-*] /.test(line))) {
    return (
      <ul>
        {lines.map((line, i) => (
          <li key={i}>{inline(line.slice(2))}</li>
        ))}
      </ul>
    );
  }
  return (
    <p>
      {lines.map((line, i) => (
        <>
          {i === 0 ? null : <br />}
          {inline(line)}
        </>
      ))}
    </p>
  );
}
