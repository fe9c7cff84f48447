package feed

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// greedy returns xz data whose first block asks for a dictionary of 1 GiB.
func greedy(t *testing.T, packed string) string {
	t.Helper()
	const at, size = 12, 12 // The header of the first block.
	header := []byte(packed[at : at+size])
	if _, ok := xzDictionary(header); !ok {
		t.Fatalf("%x is not a header", header)
	}
	header[4] = 36
	binary.LittleEndian.PutUint32(header[size-4:], crc32.ChecksumIEEE(header[:size-4]))
	if got, ok := xzDictionary(header); !ok || got != 1<<30 {
		t.Fatalf("%x asks for %d bytes", header, got)
	}
	return packed[:at] + string(header) + packed[at+size:]
}

func TestXZ(t *testing.T) {
	t.Run("a later block must not need much memory either", aLaterBlockMustNotNeedMuchMemory)
	t.Run("all blocks together must not need much memory", allBlocksTogetherMustNotNeedMuchMemory)
	t.Run("reads data of any size", readsDataOfAnySize)
}

func aLaterBlockMustNotNeedMuchMemory(t *testing.T) {
	good := xzipped(t, goodSpareCores+"\n")
	bad := greedy(t, good)
	for name, text := range map[string]string{
		"in a later stream":                   good + bad,
		"across two reads":                    xzipped(t, strings.Repeat(" ", 1<<10)) + strings.Repeat("\x00", bufferSize-1100) + bad,
		"where the decoder does not go first": good[:len(good)-12] + bad,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Read(SpareCores, strings.NewReader(text), options())
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), "it needs 1073741824 bytes of memory") {
			t.Errorf("%s: error %v", name, err)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 2*maxDictionary {
			t.Errorf("%s: took %d MiB", name, used>>20)
		}
	}
}

func allBlocksTogetherMustNotNeedMuchMemory(t *testing.T) {
	stream := xzipped(t, " ")
	size, ok := xzDictionary([]byte(stream[12:]))
	if !ok {
		t.Fatal("no header")
	}
	all := maxDictionaries / int(size)
	for _, extra := range []int{0, 1} {
		_, err := io.Copy(io.Discard, &xzHeaders{in: strings.NewReader(strings.Repeat(stream, all+extra))})
		if (err != nil) != (extra > 0) {
			t.Errorf("%d blocks: error %v", all+extra, err)
		}
	}
}

func readsDataOfAnySize(t *testing.T) {
	for _, size := range []int{0, 1, maxXZHeader, bufferSize - maxXZHeader, bufferSize - 1, bufferSize, bufferSize + 1, 3 * bufferSize} {
		text := strings.Repeat("x", size)
		for name, in := range map[string]io.Reader{"whole": strings.NewReader(text), "in halves": iotest.HalfReader(strings.NewReader(text)), "with an error": iotest.DataErrReader(strings.NewReader(text))} {
			got, err := io.ReadAll(&xzHeaders{in: in})
			if err != nil || string(got) != text {
				t.Errorf("%d bytes %s: got %d, error %v", size, name, len(got), err)
			}
		}
	}
	if _, err := io.ReadAll(&xzHeaders{in: iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("xx")))}); err == nil {
		t.Error("an error is lost")
	}
}
