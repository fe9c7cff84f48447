package client

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

func TestRetry(t *testing.T) {
	t.Run("retries all reads, and the writes that have a request_id", retriesAllReadsAndTheWritesThatHaveARequestID)
}

// A new method of the API must be listed if its name says that it reads, or if its request has a
// request_id.
func retriesAllReadsAndTheWritesThatHaveARequestID(t *testing.T) {
	repeatable := func(method protoreflect.MethodDescriptor) bool {
		reads := slices.ContainsFunc([]string{"List", "Get", "Preview", "Explain", "Watch"}, func(verb string) bool { return strings.HasPrefix(string(method.Name()), verb) })
		return reads || method.Input().Fields().ByName("request_id") != nil
	}
	methods := 0
	protoregistry.GlobalFiles.RangeFilesByPackage(workloadresizerv1.File_workloadresizer_v1_ratio_proto.Package(), func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				methods++
				method := service.Methods().Get(j)
				full := "/" + string(service.FullName()) + "/" + string(method.Name())
				if got, want := slices.Contains(retriedMethods, full), repeatable(method); got != want {
					t.Errorf("%s is retried: %v, want %v", full, got, want)
				}
			}
		}
		return true
	})
	if methods < len(retriedMethods) {
		t.Errorf("found only %d methods", methods)
	}
}
