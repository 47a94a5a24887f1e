// combine: pairs of points of one group and time.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test every pair that fits is emitted once the time has passed
script
    stream|from().measurement('m')
        |combine(lambda: "kind" == 'a', lambda: "kind" == 'b').as('a', 'b')
        |httpOut('out')
write
    m,kind=a v=1 0
    m,kind=b v=2 0
    m,kind=b v=3 0
emits combine2
write
    m,kind=a v=4 10
emits combine2
    {"columns":["time","a.v","b.v"],"name":"m","tags":{"a.kind":"a","b.kind":"b"},"values":[["1970-01-01T00:00:00Z",1,2]]}
    {"columns":["time","a.v","b.v"],"name":"m","tags":{"a.kind":"a","b.kind":"b"},"values":[["1970-01-01T00:00:00Z",1,3]]}

test times within the tolerance are one time
script
    stream|from().measurement('m')
        |combine(lambda: "kind" == 'a', lambda: "kind" == 'b').as('a', 'b').tolerance(10s)
        |httpOut('out')
write
    m,kind=a v=1 1
    m,kind=b v=2 4
    m,kind=a v=3 11
emits combine2
    {"columns":["time","a.v","b.v"],"name":"m","tags":{"a.kind":"a","b.kind":"b"},"values":[["1970-01-01T00:00:00Z",1,2]]}
`);
