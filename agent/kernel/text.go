package kernel

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
)

// textBytes is the size of the text that kernels process.
const textBytes = 128 << 10

// sharedText returns the text, which all threads read.
var sharedText = sync.OnceValue(logText)

// Idle keeps a core and its caches busy for a few microseconds, without garbage: a thread that waits
// for others can call it any number of times.
func Idle() { sink.Store(int64(bytes.Count(sharedText(), []byte("GET /login")))) }

// sink keeps the compiler from removing Idle.
var sink atomic.Int64

// logText returns text like the log of a server, with as much repetition.
func logText() []byte {
	r := random()
	paths := []string{"/", "/healthz", "/api/v1/orders", "/api/v1/orders/%d", "/static/app-%d.js", "/login"}
	var b bytes.Buffer
	for b.Len() < textBytes {
		path := paths[r.IntN(len(paths))]
		if bytes.Contains([]byte(path), []byte("%d")) {
			path = fmt.Sprintf(path, r.IntN(100_000))
		}
		fmt.Fprintf(&b, "10.%d.%d.%d - [21/Nov/2026:%02d:%02d:%02d +0000] \"GET %s HTTP/1.1\" %d %d %.3f\n",
			r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(24), r.IntN(60), r.IntN(60), path, 200+100*r.IntN(4), r.IntN(50_000), r.Float64())
	}
	b.Truncate(textBytes)
	return b.Bytes()
}
