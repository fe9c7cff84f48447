package manifest

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
)

// A manifest takes at most this many times its size in memory, and what a small one takes.
const mostMemory, smallMemory = 64, 4 << 20

func TestMemory(t *testing.T) {
	const size = 1 << 20
	fill := func(text string) string { return strings.Repeat(text, size/len(text)) }
	pod := func(inner string) string { return of("v1", "Pod", inner) }
	var bomb strings.Builder
	bomb.WriteString("apiVersion: v1\nkind: Pod\na0: &a0 [x,x,x,x,x,x,x,x,x]\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&bomb, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i-1), 9), ","))
	}
	for name, text := range map[string]string{
		"aliases of aliases":      bomb.String(),
		"one anchor, many times":  "apiVersion: v1\nkind: Pod\nx: &a " + strings.Repeat("y", size/2) + "\nz: [" + fill("*a,") + "]\n",
		"nested Lists":            strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 9000),
		"nested arrays of YAML":   strings.Repeat("[", 5000),
		"a long flow sequence":    pod("{x: [" + fill("1,") + "]}"),
		"a long JSON array":       `{"apiVersion":"v1","kind":"Pod","x":[` + fill("1,") + "1]}",
		"many objects in objects": `{"apiVersion":"v1","kind":"Pod","x":[` + fill(`{"a":{}},`) + "1]}",
		"many documents":          fill("---\n{}\n"),
		"many containers":         pod("{containers: [" + fill("{name: a},") + "]}"),
		"many items of a List":    `{"apiVersion":"v1","kind":"List","items":[` + fill(`{},`) + `{}]}`,
		"many small objects":      fill(`{"apiVersion":"v1","kind":"X"}`),
		"many pods":               fill(`{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"}]}}`),
	} {
		t.Run(name, func(t *testing.T) {
			used := memoryOf(func() { _, _ = Read([]byte(text), "ReplicaSet") })
			t.Logf("%d bytes take %d times as much memory", len(text), used/len(text))
			if most := mostMemory*len(text) + smallMemory; used > most {
				t.Errorf("%d bytes of text take %d bytes of memory, more than %d", len(text), used, most)
			}
		})
	}
}

// memoryOf returns how many bytes of the heap were used at most while f ran.
func memoryOf(f func()) int {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	used := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before := used()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	most := before
	for {
		select {
		case <-done:
			return int(most - before)
		default:
			most = max(most, used())
			runtime.Gosched()
		}
	}
}
