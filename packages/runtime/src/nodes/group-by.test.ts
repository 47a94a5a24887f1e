// groupBy: another grouping.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test points go to the groups of their tags
script
    stream|from().measurement('m')|groupBy('h')|count('v')|httpOut('out')
write
    m,h=a v=1 0
    m,h=b v=1 0
    m,h=a v=2 0
    m,h=a v=3 1
    m,h=b v=3 1
emits count3
    {"columns":["time","count"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",2]]}
    {"columns":["time","count"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:00Z",1]]}

test a batch is cut into groups, which are emitted when the next one has come
script
    stream|from().measurement('m')|window().period(10s).every(10s)|groupBy('h')|sum('v')|httpOut('out')
write
    m,h=b v=1 0
    m,h=a v=2 1
    m,h=b v=3 2
    m,h=a v=4 20
    m,h=a v=4 40
emits sum4
    {"columns":["time","sum"],"name":"m","tags":{"h":"b"},"values":[["1970-01-01T00:00:10Z",4]]}
    {"columns":["time","sum"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:10Z",2]]}
`);
