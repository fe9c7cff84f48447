package checkpoint

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/workload-resizer/workload-resizer/test/footprint"
	storedv2 "github.com/workload-resizer/workload-resizer/usage/checkpoint/stored/v2"
	"github.com/workload-resizer/workload-resizer/usage/history"
)

// later is a field that a later version may have.
var later = protowire.AppendString(protowire.AppendTag(nil, 1000, protowire.BytesType), "of a later version")

// example is a content with a header.
var (
	example = content{
		progress: map[string]time.Time{"metrics.k8s.io": began, "prometheus": began.Add(-time.Hour)},
		forms:    [][]byte{bytes.Repeat([]byte("a"), shortest), bytes.Repeat([]byte("bc"), 500)},
		unknown:  later,
	}
	exampleHeader = header{written: began.Add(1), index: 3, count: 8}
)

// packed returns the form of a content.
func packed(t testing.TB, h header, c content) []byte {
	t.Helper()
	var p packer
	if err := p.begin(c.progress, c.unknown); err != nil {
		t.Fatal(err)
	}
	for _, form := range c.forms {
		p.append(containersField, form)
	}
	b, err := p.finish(h, full)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// resealed returns a form with the right checksum.
func resealed(b []byte) []byte {
	check := sha256.Sum256(b[sealed:])
	copy(b[sealed-sha256.Size:], check[:])
	return b
}

// made returns a form with any header and content.
func made(index, count, length uint32, deflated []byte) []byte {
	b, err := proto.Marshal(&storedv2.Shard{WrittenNanos: began.UnixNano(), Index: index, Count: count, Length: length, Content: deflated})
	if err != nil {
		panic(err)
	}
	return resealed(append(append(append([]byte(magic), version), make([]byte, sha256.Size)...), b...))
}

func deflated(raw []byte) []byte {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	_, _ = w.Write(raw)
	_ = w.Close()
	return out.Bytes()
}

func TestForm(t *testing.T) {
	form := packed(t, exampleHeader, example)
	t.Run("has the header and the content", func(t *testing.T) {
		h, c, s, err := unpack(form)
		if err != nil || h != exampleHeader {
			t.Errorf("%+v, %v", h, err)
		}
		if diff := cmp.Diff(example, c, cmp.AllowUnexported(content{}), cmpopts.IgnoreFields(content{}, "unpack")); diff != "" {
			t.Error(diff)
		}
		if _, _, again, _ := unpack(packed(t, header{written: began, count: 1}, example)); again != s {
			t.Error("the same content has another sum")
		}
		if _, _, other, _ := unpack(packed(t, exampleHeader, content{})); other == s {
			t.Error("another content has the same sum")
		}
	})
	t.Run("is not written if it is too large", func(t *testing.T) {
		var p packer
		if _, err := p.finish(exampleHeader, overhead); !errors.Is(err, errLarge) {
			t.Error(err)
		}
		large := container{Container: history.Container{Name: strings.Repeat("a", longest/10)}, State: &history.State{Shapes: history.ShapesOf(1, 1)}}
		for range 9 {
			if err := p.add(&large); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.add(&large); !errors.Is(err, errLarge) {
			t.Error(err)
		}
	})
	t.Run("is rejected if any bit has changed", func(t *testing.T) {
		for i := range form {
			changed := slices.Clone(form)
			changed[i] ^= 1 << (i % 8)
			if _, _, _, err := unpack(changed); err == nil {
				t.Errorf("byte %d of %d", i, len(form))
			}
		}
	})
	t.Run("is rejected if it is cut", func(t *testing.T) {
		for n := range form {
			if _, _, _, err := unpack(form[:n]); !errors.Is(err, errDamaged) {
				t.Errorf("%d of %d bytes: %v", n, len(form), err)
			}
		}
	})
	t.Run("of a later version is not called damaged", func(t *testing.T) {
		later := slices.Clone(form)
		later[len(magic)]++
		var e laterError
		if _, _, _, err := unpack(later); !errors.As(err, &e) || e.version != version+1 {
			t.Error(err)
		}
	})
	none := protowire.AppendBytes(protowire.AppendTag(nil, sourcesField, protowire.BytesType), nil)
	short := protowire.AppendBytes(protowire.AppendTag(nil, containersField, protowire.BytesType), make([]byte, shortest-1))
	for name, form := range map[string][]byte{
		"an index that is too large":         made(4, 4, 2, deflated(none)),
		"no shards":                          made(0, 0, 2, deflated(none)),
		"a number that is no power":          made(0, 3, 2, deflated(none)),
		"too many shards":                    made(0, 2*most, 2, deflated(none)),
		"a length that is too small":         made(0, 1, 1, deflated(none)),
		"a length that is too large":         made(0, 1, 3, deflated(none)),
		"a length beyond the bound":          made(0, 1, longest+1, deflated(make([]byte, longest+1))),
		"bytes after the content":            made(0, 1, 2, append(deflated(none), 0)),
		"no deflated content":                made(0, 1, 2, []byte{255, 255}),
		"no message":                         resealed(append(slices.Clone(form[:sealed]), 255)),
		"a field that is cut":                made(0, 1, 1, deflated([]byte{8})),
		"a source that is no message":        made(0, 1, 3, deflated([]byte{10, 1, 8})),
		"a container that is too short":      made(0, 1, uint32(len(short)), deflated(short)),
		"a container that is longer than it": made(0, 1, 3, deflated([]byte{18, 200, 0})),
		"version 0":                          append([]byte(magic), make([]byte, 100)...),
	} {
		t.Run("is rejected with "+name, func(t *testing.T) {
			if _, _, _, err := unpack(form); !errors.Is(err, errDamaged) {
				t.Error(err)
			}
		})
	}
	t.Run("needs little memory, whatever it says", func(t *testing.T) {
		bomb := deflated(make([]byte, 3*longest))
		for _, length := range []uint32{1, longest} {
			form := made(0, 1, length, bomb)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, _, err := unpack(form)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; err == nil || used > 2*longest {
				t.Errorf("%d bytes, %v", used, err)
			}
		}
	})
}

func TestShards(t *testing.T) {
	t.Run("have each container once, and about as many of them", func(t *testing.T) {
		random := rand.New(rand.NewPCG(1, 1))
		for count := 1; count <= most; count *= 2 {
			sizes := make([]int, count)
			for range 3200 {
				c := history.Container{Namespace: "shop", Kind: "Deployment", Workload: string(rune('a' + random.IntN(26))), Name: string(rune(random.IntN(1 << 16)))}
				in := 0
				for index := range count {
					if (header{index: index, count: count}).has(c) {
						in++
						sizes[index]++
					}
				}
				if in != 1 {
					t.Fatalf("%v is in %d of %d shards", c, in, count)
				}
			}
			if least, largest := slices.Min(sizes), slices.Max(sizes); largest > 2*least {
				t.Errorf("of %d shards, one has %d and one has %d", count, least, largest)
			}
		}
	})
	t.Run("have the containers of the shards that they cover", func(t *testing.T) {
		if got := (header{index: 1, count: 8}).covers(); got != 1<<1|1<<9|1<<17|1<<25 {
			t.Errorf("%b", got)
		}
		if got := (header{index: 0, count: 1}).covers(); got != 1<<32-1 {
			t.Errorf("%b", got)
		}
	})
	t.Run("never move", func(t *testing.T) {
		if got := hash(history.Container{Namespace: "shop", Kind: "Deployment", Workload: "web", Name: "main"}); got != 2193866694 {
			t.Errorf("hash %d", got)
		}
	})
	t.Run("have names that the prefix determines", func(t *testing.T) {
		all := Names("usage")
		if len(all) != 2*most || all[0] != "usage-0" || all[1] != "usage-0-2" || all[len(all)-1] != "usage-31-2" {
			t.Errorf("%v", all)
		}
	})
}

func TestProgress(t *testing.T) {
	at := func(minute int) time.Time { return began.Add(time.Duration(minute) * time.Minute) }
	shard := func(index, count int, read map[string]time.Time) *stored {
		return &stored{header: header{index: index, count: count}, progress: read}
	}
	for name, test := range map[string]struct {
		shards []*stored
		want   map[string]time.Time
	}{
		"without shards is unknown": {nil, nil},
		"equals the shard that is furthest behind": {
			[]*stored{shard(1, 2, map[string]time.Time{"a": at(9)}), shard(0, 2, map[string]time.Time{"a": at(3)})},
			map[string]time.Time{"a": at(3)},
		},
		"of a source that one shard does not know is unknown": {
			[]*stored{shard(0, 2, map[string]time.Time{"a": at(9), "b": at(9)}), shard(1, 2, map[string]time.Time{"b": at(8)})},
			map[string]time.Time{"b": at(8)},
		},
		"ignores shards whose containers are all in newer ones": {
			[]*stored{shard(1, 2, map[string]time.Time{"a": at(9)}), shard(0, 2, map[string]time.Time{"a": at(8)}), shard(0, 1, map[string]time.Time{"a": at(1)})},
			map[string]time.Time{"a": at(8)},
		},
		"is unknown while some containers are in no shard that can be read": {
			[]*stored{shard(1, 2, map[string]time.Time{"a": at(9)}), shard(0, 4, map[string]time.Time{"a": at(8)})}, nil,
		},
		"follows an older shard while newer ones lack some of its containers": {
			[]*stored{shard(1, 2, map[string]time.Time{"a": at(9)}), shard(0, 1, map[string]time.Time{"a": at(1)})},
			map[string]time.Time{"a": at(1)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, progress(test.shards)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzUnpack checks that any bytes are rejected or form a content that can be written again.
func FuzzUnpack(f *testing.F) {
	f.Add(packed(f, exampleHeader, example))
	f.Add(made(0, 1, 0, deflated(nil)))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, form []byte) {
		if len(form) >= sealed {
			resealed(form)
		}
		var (
			h   header
			c   content
			err error
		)
		footprint.CheckAllocated(t, longest/64, func() { h, c, _, err = unpack(form) })
		if err != nil || form[len(magic)] != version {
			return
		}
		again, d, _, err := unpack(packed(t, h, c))
		if err != nil || again != h || !maps.Equal(d.progress, c.progress) || !bytes.Equal(d.unknown, c.unknown) || !slices.EqualFunc(d.forms, c.forms, bytes.Equal) {
			t.Errorf("read again: %+v, %v", again, err)
		}
	})
}
