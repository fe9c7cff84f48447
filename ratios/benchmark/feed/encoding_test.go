package feed

import (
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"github.com/workload-resizer/workload-resizer/test/footprint"
)

// utf16 returns text in UTF-16 with a byte order mark.
func utf16(t testing.TB, order unicode.Endianness, text string) string {
	t.Helper()
	encoded, err := unicode.UTF16(order, unicode.UseBOM).NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

func TestEncoding(t *testing.T) {
	t.Run("reads UTF-16 in all formats", readsUTF16InAllFormats)
	t.Run("other encodings are faults", otherEncodingsAreFaults)
	t.Run("does not need much memory for UTF-16", doesNotNeedMuchMemoryForUTF16)
}

func readsUTF16InAllFormats(t *testing.T) {
	type feed struct {
		format Format
		text   string
	}
	feeds := []feed{{Geekbench, geekbenchExport}, {Phoronix, phoronixExport}, {SpareCores, spareCoresDump}, {CloudCSV, strings.ReplaceAll(goodCloudCSV, ", ", "\t")}}
	for _, r := range rows {
		feeds = append(feeds, feed{r.format, r.header + r.row})
	}
	for _, f := range feeds {
		want := read(t, f.format, f.text, tableOptions(f.format)).Samples
		for _, order := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} {
			for _, text := range []string{utf16(t, order, f.text), zipped(utf16(t, order, f.text))} {
				if found, ok := Detect([]byte(text)); found != f.format || !ok {
					t.Errorf("%s is detected as %q", f.format, found)
				}
				if r := read(t, f.format, text, tableOptions(f.format)); len(want) == 0 || !slices.Equal(r.Samples, want) {
					t.Errorf("%s: %+v, want %+v", f.format, r, want)
				}
			}
		}
	}
}

func otherEncodingsAreFaults(t *testing.T) {
	const remedy = "is not UTF-8 text: save it as UTF-8"
	unmarked := utf16(t, unicode.LittleEndian, goodCloudCSV)[2:]
	if _, err := Read(CloudCSV, strings.NewReader(unmarked), tableOptions(CloudCSV)); err == nil || err.Error() != "line 1: the header "+remedy {
		t.Errorf("UTF-16 without a mark: error %v", err)
	}
	r := read(t, CloudCSV, strings.Replace(goodCloudCSV, "Platinum", "Pl\xe4tinum", 1), tableOptions(CloudCSV))
	wantFault(t, r, 2, "", remedy)
	for name, text := range map[string]string{"UTF-16 without a mark": unmarked, "Latin-1": "Gr\xf6\xdfe", "compressed": zipped(unmarked)} {
		for _, whole := range []bool{true, false} {
			if err := CheckText([]byte(text), whole); err == nil || err.Error() != "it "+remedy {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
	if err := CheckText([]byte("Gr\u00f6\u00dfe"[:3]), false); err != nil {
		t.Errorf("text that is cut within a letter: %v", err)
	}
}

func doesNotNeedMuchMemoryForUTF16(t *testing.T) {
	text := utf16(t, unicode.LittleEndian, cloudHeader+strings.Repeat(cloudRow+"\n", 1000))
	footprint.CheckAllocated(t, len(text), func() { read(t, CloudCSV, text, tableOptions(CloudCSV)) })
	const size = 64 << 20
	in := io.MultiReader(strings.NewReader(utf16(t, unicode.LittleEndian, cloudHeader)), io.LimitReader(zeros{}, size))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Read(CloudCSV, in, tableOptions(CloudCSV))
	runtime.ReadMemStats(&after)
	if err != nil || r.Bad != 1 || r.Faults[0].Reason != errTooLong.Reason {
		t.Errorf("got %+v, error %v", r, err)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > size/4 {
		t.Errorf("%d bytes were allocated for a row of %d", used, size)
	}
}
