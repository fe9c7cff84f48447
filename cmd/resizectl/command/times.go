package command

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/workload-resizer/workload-resizer/cmd/resizectl/print"
)

// TimeForm is how the help describes a time.
const TimeForm = "a time such as 2026-11-21T18:00:00Z, or how long ago, such as 2h or 2d"

// ParseTimes parses the flags --since and --until; nil for one that is empty. Errors begin with the name of the flag, without dashes.
func ParseTimes(now time.Time, since, until string) (from, to *timestamppb.Timestamp, err error) {
	if from, err = parseTime(now, "since", since); err != nil {
		return nil, nil, err
	}
	if to, err = parseTime(now, "until", until); err != nil {
		return nil, nil, err
	}
	if from != nil && to != nil && !from.AsTime().Before(to.AsTime()) {
		return nil, nil, fmt.Errorf("until %s is not after the beginning, %s", until, since)
	}
	return from, to, nil
}

func parseTime(now time.Time, name, text string) (*timestamppb.Timestamp, error) {
	if text == "" {
		return nil, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return timestamppb.New(at), nil
	}
	var ago time.Duration
	if err := Duration(&ago).Set(text); err != nil || ago < 0 {
		return nil, fmt.Errorf("%s %q must be %s", name, print.OneLine(text), TimeForm)
	}
	return timestamppb.New(now.Add(-ago)), nil
}
