package feed

import (
	"strings"
	"testing"
)

// BenchmarkRead reads feeds of 100,000 rows.
func BenchmarkRead(b *testing.B) {
	const count = 100_000
	for _, tc := range []struct{ name, begin, row, end string }{
		{"perfkit", "", goodPerfKit + "\n", ""},
		{"sparecores-json", "[", goodSpareCores + ",\n", "]"},
		{"sparecores-csv", spareCoresHeader, spareCoresRow + "\n", ""},
		{"cloud-csv", cloudHeader, cloudRow + "\n", ""},
		{"samples", "", goodSample + "\n", ""},
	} {
		b.Run(tc.name, func(b *testing.B) {
			text := tc.begin + strings.Repeat(tc.row, count) + tc.end
			format, ok := Detect([]byte(text[:1000]))
			if !ok {
				b.Fatal("the format was not detected")
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := Read(format, strings.NewReader(text), tableOptions(format))
				if err != nil || r.Rows != count || r.Bad > 0 {
					b.Fatalf("%d samples, error %v", len(r.Samples), err)
				}
			}
		})
	}
}
