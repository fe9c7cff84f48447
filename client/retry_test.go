package client

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestRetry(t *testing.T) {
	t.Run("retries all reads and nothing else", retriesAllReadsAndNothingElse)
}

// A new method of the API must be listed if its name says that it reads.
func retriesAllReadsAndNothingElse(t *testing.T) {
	reads := func(method string) bool {
		return slices.ContainsFunc([]string{"List", "Get", "Preview", "Watch"}, func(verb string) bool { return strings.HasPrefix(method, verb) })
	}
	for _, file := range []protoreflect.FileDescriptor{
		workloadresizerv1.File_workloadresizer_v1_ratio_proto, workloadresizerv1.File_workloadresizer_v1_plan_proto,
		workloadresizerv1.File_workloadresizer_v1_resize_proto, workloadresizerv1.File_workloadresizer_v1_pause_proto,
		workloadresizerv1.File_workloadresizer_v1_benchmark_proto,
	} {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				method := service.Methods().Get(j)
				full := "/" + string(service.FullName()) + "/" + string(method.Name())
				if got, want := slices.Contains(retriedMethods, full), reads(string(method.Name())); got != want {
					t.Errorf("%s is retried: %v, want %v", full, got, want)
				}
			}
		}
	}
}
