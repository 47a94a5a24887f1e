// distinct: each value once.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is each value once
script
    stream|from().measurement('m')|window().period(10s).every(10s)|distinct('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits distinct3
    {"columns":["time","distinct"],"name":"m","values":[["1970-01-01T00:00:10Z",4],["1970-01-01T00:00:10Z",1]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|distinct('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits distinct2
write
    m,h=a v=9 1
emits distinct2
    {"columns":["time","distinct"],"name":"m","values":[["1970-01-01T00:00:00Z",1],["1970-01-01T00:00:00Z",4]]}
`);
