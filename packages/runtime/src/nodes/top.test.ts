// top: the largest values.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test of a batch it is the largest values, each with its tag, in the order of their times
script
    stream|from().measurement('m')|window().period(10s).every(10s)|top(2, 'v', 'h')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 3
    m,h=c v=4 6
    m,h=a v=9 10
emits top3
    {"columns":["time","h","top"],"name":"m","values":[["1970-01-01T00:00:10Z","a",4],["1970-01-01T00:00:10Z","c",4]]}

test on a stream points of one time wait for the next time, and are taken together
script
    stream|from().measurement('m')|top(2, 'v', 'h')|httpOut('out')
write
    m,h=a v=4 0
    m,h=b v=1 0
    m,h=c v=4 0
emits top2
write
    m,h=a v=9 1
emits top2
    {"columns":["time","h","top"],"name":"m","values":[["1970-01-01T00:00:00Z","a",4],["1970-01-01T00:00:00Z","c",4]]}
`);
