// An editor for statements and scripts. Until it is loaded, and if loading fails, a plain field
// takes its place; text typed there is kept.
import type { Signal } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';

import { toast } from '../design/toasts.tsx';
import { texts } from '../texts/texts.ts';
import type { EditorHandle } from './codemirror.ts';
import type { SourceLanguage } from './language.ts';

const t = texts.editor;

export type CodeEditorProps = {
  readonly label: string;
  readonly language: 'influxql' | 'tickscript' | 'template';
  /** The text: changes here are shown, and typing changes it. */
  readonly value: Signal<string>;
  /** The database whose names are completed in statements. */
  readonly database?: string | undefined;
  readonly placeholder?: string | undefined;
  readonly isReadOnly?: boolean | undefined;
  /** Minimum height in lines. */
  readonly lines?: number | undefined;
  readonly onRun?: (() => void) | undefined;
  /** Receives the editor's functions; a plain field has fewer. */
  readonly onReady?: ((handle: EditorHandle) => void) | undefined;
};

async function loadLanguage(
  language: CodeEditorProps['language'],
  database: () => string,
): Promise<SourceLanguage> {
  if (language === 'influxql') {
    return (await import('./influxql.ts')).influxqlLanguage(database);
  }
  return (await import('./tickscript.ts')).tickscriptLanguage(() => language === 'template');
}

export function CodeEditor(props: CodeEditorProps) {
  const { label, language, value, placeholder = '', isReadOnly = false, lines = 4 } = props;
  const parent = useRef<HTMLDivElement>(null);
  const handle = useRef<EditorHandle>();
  const plain = useRef<HTMLTextAreaElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const [isLoaded, setLoaded] = useState(false);

  useEffect(() => {
    let isGone = false;
    let unsubscribe = (): void => undefined;
    const load = async (): Promise<void> => {
      const [{ makeEditor }, source] = await Promise.all([
        import('./codemirror.ts'),
        loadLanguage(language, () => latest.current.database ?? ''),
      ]);
      if (isGone || parent.current === null) return;
      const hadFocus = document.activeElement === plain.current;
      const made = makeEditor(parent.current, {
        label,
        text: value.peek(),
        language: source,
        placeholder,
        isReadOnly: latest.current.isReadOnly === true,
        onChange: (text) => (value.value = text),
        onRun: () => latest.current.onRun?.(),
        onCannotFormat: () => toast(t.cannotFormat, 'bad'),
      });
      handle.current = made;
      unsubscribe = value.subscribe((text) => made.setText(text));
      setLoaded(true);
      if (hadFocus) made.focus();
      latest.current.onReady?.(made);
    };
    load().catch((error: unknown) => toast(t.notLoaded(String(error)), 'bad'));
    return () => {
      isGone = true;
      unsubscribe();
      handle.current?.destroy();
      handle.current = undefined;
    };
  }, [label, language, value]);
  useEffect(() => handle.current?.setReadOnly(isReadOnly), [isReadOnly]);

  return (
    <div class="editor" style={{ '--lines': lines }}>
      <div ref={parent} class="editor-frame" tabIndex={-1} />
      {isLoaded ? null : (
        <textarea
          ref={plain}
          class="input"
          aria-label={label}
          rows={lines}
          spellcheck={false}
          readOnly={isReadOnly}
          placeholder={placeholder}
          value={value.value}
          onInput={(event) => (value.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) props.onRun?.();
          }}
        />
      )}
    </div>
  );
}
