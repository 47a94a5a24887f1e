// The editor itself, made with CodeMirror. Loaded with the first editor.
import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, linter, lintKeymap } from '@codemirror/lint';
import type { Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import {
  Compartment,
  EditorState,
  Prec,
  RangeSetBuilder,
  StateEffect,
  StateField,
} from '@codemirror/state';
import type { Extension } from '@codemirror/state';
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
  placeholder,
  ViewPlugin,
} from '@codemirror/view';
import type { DecorationSet, ViewUpdate } from '@codemirror/view';

import type { SourceFinding, SourceLanguage } from './language.ts';

export type EditorOptions = {
  readonly label: string;
  readonly text: string;
  readonly language: SourceLanguage;
  readonly placeholder: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
  /** Ctrl+Enter. */
  readonly onRun: (() => void) | undefined;
  /** Called when formatting was requested but is not possible. */
  readonly onCannotFormat: () => void;
};

export type EditorHandle = {
  setText(text: string): void;
  setReadOnly(isReadOnly: boolean): void;
  /** Marks findings from elsewhere until the text is changed. */
  mark(findings: readonly SourceFinding[]): void;
  format(): void;
  insert(text: string): void;
  select(start: number, end: number): void;
  focus(): void;
  destroy(): void;
};

/** Creates an editor within an element. */
export function makeEditor(parent: HTMLElement, options: EditorOptions): EditorHandle {
  const { language } = options;
  const readOnly = new Compartment();
  const lock = (isReadOnly: boolean): Extension => [
    EditorState.readOnly.of(isReadOnly),
    EditorView.editable.of(!isReadOnly),
  ];
  const view = new EditorView({
    parent,
    doc: options.text,
    extensions: [
      EditorView.cspNonce.of(styleNonce()),
      lineNumbers(),
      history(),
      drawSelection(),
      highlightActiveLine(),
      bracketMatching(),
      closeBrackets(),
      highlightSelectionMatches(),
      search({ top: true }),
      EditorView.lineWrapping,
      placeholder(options.placeholder),
      highlighter(language),
      lintGutter(),
      marked,
      linter(({ state }) => findings(language, state.doc.toString(), state.field(marked)), {
        delay: 250,
        needsRefresh: ({ startState, state }) => startState.field(marked) !== state.field(marked),
      }),
      autocompletion({ override: [(context) => suggest(language, context)], icons: true }),
      hover(language),
      EditorState.languageData.of(() => [{ commentTokens: { line: language.lineComment } }]),
      // Keys scroll the focused element, even a read-only one.
      EditorView.contentAttributes.of({
        'aria-label': options.label,
        'data-editor': 'true',
        tabindex: '0',
      }),
      readOnly.of(lock(options.isReadOnly)),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) options.onChange(update.state.doc.toString());
      }),
      Prec.highest(keymap.of([runKey(options), formatKey(options), leaveKey(parent)])),
      keymap.of([
        ...closeBracketsKeymap,
        ...completionKeymap,
        ...lintKeymap,
        ...searchKeymap,
        ...historyKeymap,
        ...defaultKeymap,
        indentWithTab,
      ]),
    ],
  });
  return {
    setText(text) {
      const { doc } = view.state;
      if (doc.toString() === text) return;
      view.dispatch({ changes: { from: 0, to: doc.length, insert: text } });
    },
    mark: (found) => view.dispatch({ effects: setMarked.of(found) }),
    setReadOnly: (isReadOnly) => view.dispatch({ effects: readOnly.reconfigure(lock(isReadOnly)) }),
    format: () => format(view, options),
    insert(text) {
      view.dispatch(view.state.replaceSelection(text));
      view.focus();
    },
    select(start, end) {
      const { length } = view.state.doc;
      const anchor = Math.min(start, length);
      view.dispatch({
        selection: { anchor, head: Math.min(end, length) },
        scrollIntoView: true,
      });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

/** Allows the style element that the editor makes (content security policy of the page). */
function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
}

const runKey = ({ onRun }: EditorOptions) => ({
  key: 'Mod-Enter',
  run: () => {
    onRun?.();
    return true;
  },
});

const formatKey = (options: EditorOptions) => ({
  key: 'Mod-Shift-f',
  preventDefault: true,
  run: (view: EditorView) => {
    format(view, options);
    return true;
  },
});

/** Tab indents, so the keyboard needs another way out. */
const leaveKey = (parent: HTMLElement) => ({
  key: 'Escape',
  run: (view: EditorView) => {
    // Escape first closes suggestions or the search.
    const isOpen = view.dom.querySelector('.cm-tooltip-autocomplete, .cm-search') !== null;
    if (isOpen) return false;
    // The frame has the focus, and the text in it is passed over: otherwise Tab would lead back
    // to it.
    view.contentDOM.tabIndex = -1;
    parent.addEventListener('blur', () => (view.contentDOM.tabIndex = 0), { once: true });
    parent.focus();
    return true;
  },
});

function format(view: EditorView, { language, onCannotFormat }: EditorOptions): void {
  const before = view.state.doc.toString();
  const after = language.format(before);
  if (after === undefined) onCannotFormat();
  else if (after !== before) {
    view.dispatch({ changes: { from: 0, to: before.length, insert: after } });
  }
}

function highlighter(language: SourceLanguage): Extension {
  const marks = new Map<string, Decoration>();
  const markOf = (kind: string): Decoration => {
    const known = marks.get(kind) ?? Decoration.mark({ class: `tok-${kind}` });
    marks.set(kind, known);
    return known;
  };
  const decorate = (view: EditorView): DecorationSet => {
    const builder = new RangeSetBuilder<Decoration>();
    for (const token of language.tokenize(view.state.doc.toString())) {
      if (token.end > token.start) builder.add(token.start, token.end, markOf(token.class));
    }
    return builder.finish();
  };
  return ViewPlugin.fromClass(
    class {
      decorations: DecorationSet;
      constructor(view: EditorView) {
        this.decorations = decorate(view);
      }
      update(update: ViewUpdate): void {
        if (update.docChanged) this.decorations = decorate(update.view);
      }
    },
    { decorations: (plugin) => plugin.decorations },
  );
}

/** Findings from outside the language, such as the engine's reason for refusing the text. */
const setMarked = StateEffect.define<readonly SourceFinding[]>();
const marked = StateField.define<readonly SourceFinding[]>({
  create: () => [],
  update(before, { docChanged, effects }) {
    const kept = docChanged && before.length > 0 ? [] : before;
    return effects.find((effect) => effect.is(setMarked))?.value ?? kept;
  },
});

function findings(
  language: SourceLanguage,
  text: string,
  others: readonly SourceFinding[],
): Diagnostic[] {
  const own = language.diagnose(text);
  const added = others.filter(({ message }) => own.every((finding) => finding.message !== message));
  return [...own, ...added].map(({ start, end, message, hint, severity }) => ({
    from: Math.min(start, text.length),
    to: Math.min(Math.max(end, start), text.length),
    severity,
    message: hint === undefined ? message : `${message}\n${hint}`,
  }));
}

async function suggest(
  language: SourceLanguage,
  context: CompletionContext,
): Promise<CompletionResult | null> {
  const text = context.state.doc.toString();
  const before = text[context.pos - 1] ?? '';
  if (!context.explicit && !/[\w"'$|.@(]/.test(before)) return null;
  const found = await language.complete(text, context.pos);
  if (found === undefined || context.aborted) return null;
  return {
    from: found.from,
    validFor: /^["'$]?[\w.]*$/,
    options: found.items.map(({ label, insert, detail, info, kind }) => ({
      label,
      type: kind,
      ...(insert === undefined ? {} : { apply: insert }),
      ...(detail === undefined ? {} : { detail }),
      ...(info === undefined ? {} : { info }),
    })),
  };
}

function hover(language: SourceLanguage): Extension {
  return hoverTooltip((view, position) => {
    const found = language.hover?.(view.state.doc.toString(), position);
    if (found === undefined) return null;
    return {
      pos: found.start,
      end: found.end,
      above: true,
      create: () => {
        const dom = document.createElement('div');
        dom.className = 'editor-hover';
        const title = document.createElement('b');
        title.textContent = found.title;
        const body = document.createElement('p');
        body.textContent = found.body;
        dom.append(title, body);
        return { dom };
      },
    };
  });
}
