// last: the newest point.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the newest point, with its tags
script
    stream|from().measurement('m')|window().period(10s).every(10s)|last('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits last3
    {"columns":["time","last"],"name":"m","tags":{"h":"c"},"values":[["1970-01-01T00:00:10Z",4]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|last('v')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits last2
write
    m,h=a v=9 1
emits last2
    {"columns":["time","last"],"name":"m","tags":{"h":"a"},"values":[["1970-01-01T00:00:00Z",4]]}
`);
