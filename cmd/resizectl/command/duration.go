package command

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/duration"
)

// day is what users mean by 1d: time zones are not known here.
const day = 24 * time.Hour

// days matches the days at the beginning of a duration, and the rest of it.
var days = regexp.MustCompile(`^(\d+)d(.*)$`)

var errDuration = errors.New("must be a duration, such as 30s, 5m, 48h or 2d")

// Duration returns the value of a flag that is a duration. Unlike Go's durations, it may have days, such
// as 2d and 1d12h.
func Duration(value *time.Duration) pflag.Value { return durationValue{value} }

// DurationVar adds a flag that is a duration to a command.
func DurationVar(flags *pflag.FlagSet, value *time.Duration, name string, initial time.Duration, usage string) {
	*value = initial
	flag := flags.VarPF(Duration(value), name, "", usage)
	if initial == 0 {
		flag.DefValue = "" // The help omits it.
	}
}

type durationValue struct{ value *time.Duration }

// String implements pflag.Value. It writes whole days as users do.
func (v durationValue) String() string {
	switch d := *v.value; {
	case d >= 2*day && d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	default:
		return d.String()
	}
}

// Set implements pflag.Value.
func (v durationValue) Set(text string) error {
	d, err := parseDuration(text)
	if err == nil {
		*v.value = d
	}
	return err
}

// Type implements pflag.Value.
func (v durationValue) Type() string { return "duration" }

func parseDuration(text string) (time.Duration, error) {
	match := days.FindStringSubmatch(text)
	if match == nil {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, errDuration
		}
		return d, nil
	}
	n, err := strconv.ParseInt(match[1], 10, 64)
	if err != nil || n > int64(math.MaxInt64/day) {
		return 0, fmt.Errorf("is longer than %s: %w", duration.HumanDuration(math.MaxInt64), errDuration)
	}
	total := time.Duration(n) * day
	if match[2] == "" {
		return total, nil
	}
	rest, err := time.ParseDuration(match[2])
	if err != nil || rest < 0 || total > math.MaxInt64-rest {
		return 0, errDuration
	}
	return total + rest, nil
}
