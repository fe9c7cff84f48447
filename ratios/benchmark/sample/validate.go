package sample

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Fault describes an invalid field of a sample.
type Fault struct {
	// Field is the JSON name of the field, e.g. "score".
	Field string
	// Reason describes the requirement, e.g. "must be above 0".
	Reason string
}

// Error implements error.
func (f Fault) Error() string { return f.Field + " " + f.Reason }

// MaxIDBytes is the maximum length of a sample's ID, and MaxVCPUs the maximum size of a machine.
const (
	MaxIDBytes = 128
	MaxVCPUs   = 4096
)

const (
	// maxThreadsPerCore is what IBM's processors have.
	maxThreadsPerCore = 8
	maxRuns           = 1_000_000
	// maxAhead is how far the clock of a machine may be ahead.
	maxAhead = 5 * time.Minute
)

// noName is the message for text that is not a valid label value.
const noName = "must be up to 63 letters, digits, -, _ and ., beginning and ending with a letter or digit, not %q"

var (
	name      = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	benchmark = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.:/ -]{0,126}[A-Za-z0-9])?$`)
)

// CheckNodeType returns why a sample cannot have the node type, e.g. "must be up to 63
// letters"; nil if it can. The node type must not include a CPU model, which is a separate
// field.
func CheckNodeType(nodeType string) error {
	if name.MatchString(nodeType) {
		return nil
	}
	return fmt.Errorf(noName, nodeType)
}

// minScore and maxScore are far beyond any unit of a benchmark. Without them, a ratio of scores
// can be infinite or 0.
const minScore, maxScore = 1e-15, 1e15

// CheckScore returns why a sample cannot have the score; nil if it can.
func CheckScore(score float64) error {
	switch {
	case !positive(score):
		return fmt.Errorf("must be a number above 0, not %v", score)
	case score < minScore || score > maxScore:
		return fmt.Errorf("must be from %g to %g, not %g", minScore, maxScore, score)
	}
	return nil
}

// Validate returns everything that is wrong with a sample as of now. NodeType may be empty if
// InstanceType is set.
func (s *Sample) Validate(now time.Time) []Fault {
	var faults []Fault
	reject := func(field, format string, args ...any) {
		faults = append(faults, Fault{field, fmt.Sprintf(format, args...)})
	}
	for _, f := range []struct {
		name, value string
		least, most int
	}{
		{"id", s.ID, 1, MaxIDBytes}, {"instanceType", s.InstanceType, 0, 128}, {"version", s.Version, 0, 128},
		{"unit", s.Unit, 0, 64}, {"machine", s.Machine, 1, 253}, {"source", s.Source, 0, 63},
	} {
		switch {
		case len(f.value) < f.least:
			reject(f.name, "must be set")
		case len(f.value) > f.most:
			reject(f.name, "must have at most %d bytes, not %d", f.most, len(f.value))
		case !printable(f.value):
			reject(f.name, "must be printable text")
		}
	}
	if s.NodeType != "" {
		if err := CheckNodeType(s.NodeType); err != nil {
			reject("nodeType", "%v", err)
		}
	} else if s.InstanceType == "" {
		reject("nodeType", "or instanceType must be set")
	}
	if s.CPUModel != "" && !name.MatchString(s.CPUModel) {
		reject("cpuModel", noName, s.CPUModel)
	}
	switch {
	case s.Benchmark == "":
		reject("benchmark", "must be set")
	case !benchmark.MatchString(s.Benchmark):
		reject("benchmark", "must be up to 128 letters, digits, spaces and _.:/-, beginning and ending with a letter or digit, not %q", s.Benchmark)
	}
	if err := CheckScore(s.Score); err != nil {
		reject("score", "%v", err)
	}
	switch err := CheckScore(s.SingleThread); {
	case s.SingleThread == 0, err == nil:
	case !positive(s.SingleThread):
		reject("singleThread", "must be a number above 0, or absent, not %v", s.SingleThread)
	default:
		reject("singleThread", "%v", err)
	}
	if s.VCPUs < 1 || s.VCPUs > MaxVCPUs {
		reject("vcpus", "must be 1 to %d, not %d", MaxVCPUs, s.VCPUs)
	}
	switch want := s.VCPUs; {
	case s.Spot && s.Threads != 1:
		reject("threads", "must be 1 in a spot check, not %d", s.Threads)
	case !s.Spot && s.Threads != want:
		reject("threads", "must be vcpus (%d), not %d: only runs on all vCPUs are compared", want, s.Threads)
	}
	if s.ThreadsPerCore < 0 || s.ThreadsPerCore > maxThreadsPerCore {
		reject("threadsPerCore", "must be 1 to %d, or absent, not %d", maxThreadsPerCore, s.ThreadsPerCore)
	}
	if s.Runs < 0 || s.Runs > maxRuns {
		reject("runs", "must be 0 to %d, not %d", maxRuns, s.Runs)
	}
	if !(s.OtherLoad >= 0 && s.OtherLoad <= 1) {
		reject("otherLoad", "must be 0 to 1, not %v", s.OtherLoad)
	}
	switch {
	case s.Time.IsZero():
		reject("time", "must be set")
	case s.Time.After(now.Add(maxAhead)):
		reject("time", "must not be in the future, but is %s", s.Time.Format(time.RFC3339))
	}
	return faults
}

// printable reports whether text is UTF-8 without control characters and the like.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.C, r) })
}

func positive(f float64) bool { return f > 0 && !math.IsInf(f, 0) }
