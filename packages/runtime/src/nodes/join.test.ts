// join: points of several streams by group and time.
import { taskTests } from '@tidemark/testkit/task-tests';

taskTests(`
test points of one time are joined, and fields have the names of their sides
script
    var a = stream|from().measurement('a')
    var b = stream|from().measurement('b')
    a|join(b).as('x', 'y')|httpOut('out')
write
    a v=1 0
    b v=2 0
    a v=3 10
    b v=4 10
    a v=5 20
    b v=6 20
emits join4
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:00Z",1,2]]}
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:10Z",3,4]]}
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:20Z",5,6]]}

test without fill a point without counterpart is dropped
script
    var a = stream|from().measurement('a')
    var b = stream|from().measurement('b')
    a|join(b).as('x', 'y')|httpOut('out')
write
    a v=1 0
    a v=2 10
    b v=3 10
    a v=4 20
    b v=5 20
emits join4
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:10Z",2,3]]}
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:20Z",4,5]]}

test with fill it is completed
script
    var a = stream|from().measurement('a')
    var b = stream|from().measurement('b')
    a|join(b).as('x', 'y').fill(0.0)|httpOut('out')
write
    a v=1 0
    a v=2 10
    b v=3 10
    a v=4 20
    b v=5 20
emits join4
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:00Z",1,0]]}
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:10Z",2,3]]}
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:20Z",4,5]]}

test at its end a join on some tags gives up what still waits for a partner
script
    var a = stream|from().measurement('a').groupBy('h')
    var b = stream|from().measurement('b').groupBy('h', 'k')
    a|join(b).as('x', 'y').on('h').fill(0.0)|httpOut('out')
write
    a,h=1 v=1 0
    b,h=1,k=1 v=2 0
    b,h=1,k=1 v=3 10
finish
emits join4
    {"columns":["time","x.v","y.v"],"name":"a","tags":{"h":"1","k":"1"},"values":[["1970-01-01T00:00:00Z",1,2]]}

test times within the tolerance are one time
script
    var a = stream|from().measurement('a')
    var b = stream|from().measurement('b')
    a|join(b).as('x', 'y').tolerance(10s)|httpOut('out')
write
    a v=1 1
    b v=2 4
    a v=3 11
    b v=4 12
    a v=5 21
    b v=6 21
emits join4
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:00Z",1,2]]}
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:10Z",3,4]]}
    {"columns":["time","x.v","y.v"],"name":"a","values":[["1970-01-01T00:00:20Z",5,6]]}

test groups are joined with themselves
script
    var a = stream|from().measurement('a').groupBy('h')
    var b = stream|from().measurement('b').groupBy('h')
    a|join(b).as('x', 'y')|httpOut('out')
write
    a,h=1 v=1 0
    b,h=2 v=2 0
    b,h=1 v=3 0
    a,h=1 v=4 10
    b,h=1 v=5 10
emits join4
    {"columns":["time","x.v","y.v"],"name":"a","tags":{"h":"1"},"values":[["1970-01-01T00:00:00Z",1,3]]}
    {"columns":["time","x.v","y.v"],"name":"a","tags":{"h":"1"},"values":[["1970-01-01T00:00:10Z",4,5]]}

test on joins a group with all that share some of its tags
script
    var rack = stream|from().measurement('rack').groupBy('rack')
    var host = stream|from().measurement('host').groupBy('rack', 'host')
    rack|join(host).as('r', 'h').on('rack')|httpOut('out')
write
    rack,rack=a v=1 0
    host,rack=a,host=1 v=2 0
    host,rack=a,host=2 v=3 0
    rack,rack=a v=4 10
    host,rack=a,host=1 v=5 10
    host,rack=a,host=2 v=6 10
finish
emits join4
    {"columns":["time","h.v","r.v"],"name":"rack","tags":{"host":"1","rack":"a"},"values":[["1970-01-01T00:00:00Z",2,1]]}
    {"columns":["time","h.v","r.v"],"name":"rack","tags":{"host":"2","rack":"a"},"values":[["1970-01-01T00:00:00Z",3,1]]}
    {"columns":["time","h.v","r.v"],"name":"rack","tags":{"host":"1","rack":"a"},"values":[["1970-01-01T00:00:10Z",5,4]]}
    {"columns":["time","h.v","r.v"],"name":"rack","tags":{"host":"2","rack":"a"},"values":[["1970-01-01T00:00:10Z",6,4]]}
`);
