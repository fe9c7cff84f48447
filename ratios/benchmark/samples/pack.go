package samples

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/workload-resizer/workload-resizer/ratios/benchmark/sample"
)

const (
	// packed is the prefix of a line that has many samples. Any other line is the JSON of one
	// sample: so wrote earlier releases, and so may people.
	packed = "deflate:"
	// maxUnpacked limits the bytes of all lines of a ConfigMap. It is several times what fits.
	maxUnpacked = 32 << 20
)

// budget is how many bytes, unpacked, and samples the lines of a ConfigMap may still have. Without
// it, a ConfigMap of a few bytes could take the memory of all replicas.
type budget struct{ bytes, samples int }

// column is a list that has no more elements than a ConfigMap has samples.
type column[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (c *column[T]) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // A later release may have added one, which must not be lost.
	if bytes.Count(text, []byte(",")) < maxSamples {
		return decoder.Decode((*[]T)(c)) // Several times faster.
	}
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return cmp.Or(err, errors.New("a column is not a list"))
	}
	for decoder.More() {
		if len(*c) == maxSamples {
			return fmt.Errorf("a column has more than %d elements", maxSamples)
		}
		var element T
		if err := decoder.Decode(&element); err != nil {
			return err
		}
		*c = append(*c, element)
	}
	return nil
}

// columns are the samples of a line, a column per field. Samples of one run are next to each
// other and have most of their fields in common, so they take about 20 bytes each instead of 400.
type columns struct {
	// Kinds are the different samples without their own fields, which follow. Kind selects
	// one.
	Kinds column[sample.Sample] `json:"kinds"`
	Kind  column[int]           `json:"kind"`
	// Machine and ID are empty if they are the same as in the sample before. ID is a pattern:
	// see patternOf.
	Machine column[string] `json:"machine"`
	ID      column[string] `json:"id"`
	// Time is in seconds after the sample before.
	Time         column[int64]   `json:"time"`
	Score        column[float64] `json:"score"`
	SingleThread column[float64] `json:"singleThread"`
	Runs         column[int]     `json:"runs"`
	OtherLoad    column[float64] `json:"otherLoad"`
}

// kindOf returns a sample without its own fields.
func kindOf(s sample.Sample) sample.Sample {
	s.ID, s.Machine, s.Time = "", "", time.Time{}
	s.Score, s.SingleThread, s.Runs, s.OtherLoad = 0, 0, 0, 0
	return s
}

// The placeholders in patterns: control characters, which no ID contains.
const machineHere, benchmarkHere, timeHere = "\x01", "\x02", "\x03"

// inIDs is how IDs of node agents contain the time.
const inIDs = "2006-01-02T15:04:05"

// patternOf returns the ID of a sample with placeholders for its machine, benchmark and time. The
// samples of a run then have the same pattern.
func patternOf(s *sample.Sample) string {
	id := strings.ReplaceAll(s.ID, s.Machine, machineHere)
	id = strings.ReplaceAll(id, strings.TrimPrefix(s.Benchmark, sample.AgentPrefix), benchmarkHere)
	return strings.ReplaceAll(id, s.Time.Format(inIDs), timeHere)
}

// idOf returns the ID with that pattern; the other fields of the sample are set.
func idOf(pattern string, s *sample.Sample) (string, error) {
	values := []string{machineHere, s.Machine, benchmarkHere, strings.TrimPrefix(s.Benchmark, sample.AgentPrefix), timeHere, s.Time.Format(inIDs)}
	size := len(pattern)
	for pair := range slices.Chunk(values, 2) {
		size += strings.Count(pattern, pair[0]) * (len(pair[1]) - len(pair[0]))
	}
	if size > sample.MaxIDBytes {
		return "", fmt.Errorf("the ID has %d bytes, the maximum is %d", size, sample.MaxIDBytes)
	}
	return strings.NewReplacer(values...).Replace(pattern), nil
}

// packer writes lines. It reuses its memory.
type packer struct {
	bytes  bytes.Buffer
	writer *flate.Writer
}

// pack returns a line with samples, at least one, and its size unpacked.
func (p *packer) pack(rows []row) (line string, unpacked int, err error) {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.Machine, b.Machine), a.Time.Compare(b.Time), cmp.Compare(a.Benchmark, b.Benchmark), cmp.Compare(a.ID, b.ID))
	})
	text, err := json.Marshal(columnsOf(rows))
	if err != nil {
		return "", 0, fmt.Errorf("write samples as JSON: %w", err)
	}
	p.bytes.Reset()
	if p.writer == nil {
		if p.writer, err = flate.NewWriter(nil, flate.DefaultCompression); err != nil {
			return "", 0, err
		}
	}
	p.writer.Reset(&p.bytes)
	if _, err := p.writer.Write(text); err != nil {
		return "", 0, err
	}
	if err := p.writer.Close(); err != nil {
		return "", 0, err
	}
	return packed + base64.StdEncoding.EncodeToString(p.bytes.Bytes()), len(text), nil
}

func columnsOf(rows []row) *columns {
	c := &columns{}
	kinds := map[sample.Sample]int{}
	var machine, pattern string
	var second int64
	for i := range rows {
		s := &rows[i].Sample
		kind := kindOf(*s)
		at, known := kinds[kind]
		if !known {
			at = len(c.Kinds)
			kinds[kind], c.Kinds = at, append(c.Kinds, kind)
		}
		c.Kind = append(c.Kind, at)
		c.Machine = append(c.Machine, unless(s.Machine, machine))
		c.ID = append(c.ID, unless(patternOf(s), pattern))
		c.Time = append(c.Time, s.Time.Unix()-second)
		c.Score, c.SingleThread = append(c.Score, s.Score), append(c.SingleThread, s.SingleThread)
		c.Runs, c.OtherLoad = append(c.Runs, s.Runs), append(c.OtherLoad, s.OtherLoad)
		machine, pattern, second = s.Machine, patternOf(s), s.Time.Unix()
	}
	return c
}

// unless returns text, or nothing if it is the same as before.
func unless(text, before string) string {
	if text == before {
		return ""
	}
	return text
}

// unpack reads a line that pack has written.
func unpack(line string, left *budget) ([]sample.Sample, error) {
	compressed, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(line, packed))
	if err != nil {
		return nil, fmt.Errorf("read base64: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(compressed)), int64(left.bytes)+1))
	if left.bytes -= len(text); err != nil {
		return nil, fmt.Errorf("decompress samples: %w", err)
	}
	if left.bytes < 0 {
		left.bytes = 0
		return nil, fmt.Errorf("decompress samples: they have more than %d MiB", maxUnpacked>>20)
	}
	var c columns
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // A later release may have added one, which must not be lost.
	if err := decoder.Decode(&c); err != nil {
		return nil, fmt.Errorf("read samples as JSON: %w", err)
	}
	return c.samples()
}

func (c *columns) samples() ([]sample.Sample, error) {
	n := len(c.Kind)
	for _, length := range []int{len(c.Machine), len(c.ID), len(c.Time), len(c.Score), len(c.SingleThread), len(c.Runs), len(c.OtherLoad)} {
		if length != n {
			return nil, errors.New("the columns differ in length")
		}
	}
	all := make([]sample.Sample, n)
	var machine, pattern string
	var second int64
	for i, kind := range c.Kind {
		if kind < 0 || kind >= len(c.Kinds) {
			return nil, fmt.Errorf("sample %d: kind %d does not exist", i+1, kind)
		}
		machine, pattern = cmp.Or(c.Machine[i], machine), cmp.Or(c.ID[i], pattern)
		second += c.Time[i]
		s := &all[i]
		*s = c.Kinds[kind]
		s.Machine, s.Time = machine, time.Unix(second, 0).UTC()
		id, err := idOf(pattern, s)
		if err != nil {
			return nil, fmt.Errorf("sample %d: %w", i+1, err)
		}
		s.ID = id
		s.Score, s.SingleThread, s.Runs, s.OtherLoad = c.Score[i], c.SingleThread[i], c.Runs[i], c.OtherLoad[i]
	}
	return all, nil
}
