// The end of the list: that more events are read, why they are not, or that there are no more.
import { problemOf } from '../../../api/problem.ts';
import { Button } from '../../../design/button.tsx';
import { Failure, Notice } from '../../../design/states.tsx';
import { texts } from '../../../texts/texts.ts';
import { rangeOf } from '../../../time/range.ts';
import { setRange } from '../state.ts';
import { EVENTS_MAX } from './events.ts';
import type { EventList, LogRequest } from './events.ts';
import { changeView } from './state.ts';

const t = texts.log;

export function ListFoot({
  list,
  request,
}: {
  readonly list: EventList;
  readonly request: LogRequest | undefined;
}) {
  const failure = list.failure.value;
  const events = list.events.value;
  const oldest = events.at(-1);
  return (
    <div class="log-foot">
      {list.isCut.value ? <Notice kind="warn">{t.cut}</Notice> : null}
      {failure !== undefined ? (
        <Failure error={problemOf(failure)} onRetry={() => void list.retry()} />
      ) : list.isComplete.value ? (
        <p class="muted small">{t.end}</p>
      ) : events.length >= EVENTS_MAX && oldest !== undefined && request !== undefined ? (
        <Notice
          action={
            <Button
              isSmall
              onClick={() => {
                changeView({ isFollowing: false });
                setRange(rangeOf(request.fromMs, Date.parse(oldest.time)));
              }}
            >
              {t.continueOlder}
            </Button>
          }
        >
          {t.limit(events.length)}
        </Notice>
      ) : (
        <p class="muted small row">
          <span class="spinner" aria-hidden="true" />
          {t.loadingOlder}
        </p>
      )}
    </div>
  );
}
