package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/workload-resizer/workload-resizer/test/cluster/internal/work"
)

func TestHelp(t *testing.T) {
	t.Run("the work in the help is valid", func(t *testing.T) {
		example := strings.Join(regexp.MustCompile(`(?m)^  .*$`).FindAllString(workHelp, -1), "\n")
		parsed, err := work.Parse(example)
		if err != nil {
			t.Fatalf("%v in\n%s", err, example)
		}
		if len(parsed.Memory) != 7 || parsed.Job == nil || len(parsed.Ready.Lost) != 1 {
			t.Errorf("got %+v from\n%s", parsed, example)
		}
	})
}
