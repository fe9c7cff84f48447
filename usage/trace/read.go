package trace

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/workload-resizer/workload-resizer/usage/history"
	"github.com/workload-resizer/workload-resizer/usage/recommend"
)

// Machine is what one machine was given, and what it used.
type Machine struct {
	Name string
	// Workload is what the machine is a replica of: replicas share a history. Without it, the
	// machine has its own.
	Workload string
	// Given is what the machine was provisioned with; 0 if it is unknown.
	Given recommend.Authored
	Rows  []Row
}

// Row is a sample.
type Row struct {
	// At is in Unix seconds.
	At int64
	// CPU is in millicores, on average since the row before, and Memory in bytes.
	CPU, Memory int64
	// Pressure is the share of the time in which the machine waited for CPU; 0 if it is unknown.
	Pressure float32
	// Throttled means that the machine would have used more CPU without its limit.
	Throttled bool
}

// latest is a time that no sample has, in 2200: times have to fit in 64 bits of nanoseconds.
const latest = 7_258_118_400

// longestLine is more than any line of a trace needs.
const longestLine = 64 << 10

// byteOrderMark is written at the start of UTF-8 text by some programs.
var byteOrderMark = []byte("\uFEFF")

// ErrEndsEarly means that the end of a file is missing.
var ErrEndsEarly = errors.New("the file ends early: copy it again")

// Read reads a trace. It passes each machine to visit, whose error ends the reading.
func Read(r io.Reader, visit func(*Machine) error) error {
	in := bufio.NewReaderSize(r, 1<<20)
	if magic, err := in.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		unzip, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("decompress the trace: %w", cutOff(err))
		}
		in = bufio.NewReaderSize(unzip, 1<<20)
	}
	switch mark, _ := in.Peek(len(byteOrderMark)); {
	case bytes.Equal(mark, byteOrderMark):
		_, _ = in.Discard(len(mark))
	case bytes.HasPrefix(mark, []byte("\xFF\xFE")) || bytes.HasPrefix(mark, []byte("\xFE\xFF")):
		return errors.New("read the trace: it is UTF-16: save it as UTF-8")
	}
	whole := &wholeLines{from: in}
	lines := bufio.NewScanner(whole)
	lines.Buffer(make([]byte, 0, longestLine), longestLine)
	lines.Split(whole.split)
	var machine *Machine
	n := 1
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		var err error
		switch {
		case len(line) == 0 || line[0] == '#':
		case bytes.HasPrefix(line, []byte("vm ")):
			if machine != nil {
				if err := visit(machine); err != nil {
					return err
				}
			}
			machine, err = begin(line)
		case machine == nil:
			err = errors.New("a sample before the first machine")
		default:
			err = machine.add(line)
		}
		if err != nil {
			return fmt.Errorf("read line %d of the trace: %w", n, err)
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return fmt.Errorf("read the trace: a line is longer than %d bytes", longestLine)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read line %d of the trace: %w", n, cutOff(err))
	}
	if machine == nil {
		return errors.New("read the trace: it has no machine")
	}
	return visit(machine)
}

// cutOff says so if a compressed file ends early.
func cutOff(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrEndsEarly
	}
	return err
}

// wholeLines splits text into lines. Of text that cannot be read further, the last line is only a part.
type wholeLines struct {
	from   io.Reader
	failed bool
}

// Read implements io.Reader.
func (w *wholeLines) Read(p []byte) (int, error) {
	n, err := w.from.Read(p)
	w.failed = err != nil && !errors.Is(err, io.EOF)
	return n, err
}

// split is a bufio.SplitFunc.
func (w *wholeLines) split(data []byte, atEnd bool) (int, []byte, error) {
	return bufio.ScanLines(data, atEnd && !w.failed)
}

// begin reads the row that begins a machine.
func begin(line []byte) (*Machine, error) {
	var name string
	var cores, kib, mhz float64
	if n, err := fmt.Sscanf(string(line), "vm %s cores %g memory_kib %g mhz %g", &name, &cores, &kib, &mhz); err != nil || n != 4 {
		return nil, fmt.Errorf("%q is not vm NAME cores CORES memory_kib KIB mhz MHZ", line)
	}
	cpu, ok := history.Millicores(cores)
	memory, okMemory := history.Bytes(kib * 1024)
	if !ok || !okMemory {
		return nil, fmt.Errorf("machine %q does not have 0 to 9e10 cores and KiB", name)
	}
	given := recommend.Amounts{CPU: cpu, Memory: memory}
	return &Machine{Name: name, Given: recommend.Authored{Request: given, Limit: given}}, nil
}

// add reads a sample.
func (m *Machine) add(line []byte) error {
	at, rest, _ := bytes.Cut(line, []byte(","))
	cores, kib, found := bytes.Cut(rest, []byte(","))
	seconds, err := strconv.ParseInt(string(at), 10, 64)
	if !found || err != nil || seconds < 0 || seconds > latest {
		return fmt.Errorf("%q is not TIME,CORES_USED,KIB_USED", line)
	}
	c, err1 := strconv.ParseFloat(string(cores), 64)
	k, err2 := strconv.ParseFloat(string(kib), 64)
	cpu, okCPU := history.Millicores(c)
	memory, okMemory := history.Bytes(k * 1024)
	if err1 != nil || err2 != nil || !okCPU || !okMemory {
		return fmt.Errorf("%q does not have two numbers from 0 to 9e10", line)
	}
	if n := len(m.Rows); n > 0 {
		if seconds += m.Rows[n-1].At; seconds > latest {
			return fmt.Errorf("%q is after the year 2200", line)
		}
	}
	m.Rows = append(m.Rows, Row{At: seconds, CPU: cpu, Memory: memory})
	return nil
}
