// A text in which the parts that a search found are marked.
import type { Finder } from './search.ts';

export function Marked({ text, finder }: { readonly text: string; readonly finder: Finder }) {
  const ranges = finder.find(text);
  if (ranges.length === 0) return <>{text}</>;
  let end = 0;
  const parts = ranges.map(([from, to]) => {
    const before = text.slice(end, from);
    end = to;
    return (
      <>
        {before}
        <mark>{text.slice(from, to)}</mark>
      </>
    );
  });
  return (
    <>
      {parts}
      {text.slice(end)}
    </>
  );
}
