package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// TestReflection reads the API as grpcurl does.
func TestReflection(t *testing.T) {
	r := start(t, setup{})
	stream, err := reflectionv1.NewServerReflectionClient(r.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := func(request *reflectionv1.ServerReflectionRequest) *reflectionv1.ServerReflectionResponse {
		t.Helper()
		if err := stream.Send(request); err != nil {
			t.Fatal(err)
		}
		response, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return response
	}
	// files returns the file that contains a name, and what it imports, by their paths.
	files := func(name string) map[string]*descriptorpb.FileDescriptorProto {
		t.Helper()
		response := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}})
		all := map[string]*descriptorpb.FileDescriptorProto{}
		for _, b := range response.GetFileDescriptorResponse().GetFileDescriptorProto() {
			file := &descriptorpb.FileDescriptorProto{}
			if err := proto.Unmarshal(b, file); err != nil {
				t.Fatal(err)
			}
			all[file.GetName()] = file
		}
		if len(all) == 0 {
			t.Fatalf("no file for %s: %v", name, response.GetErrorResponse())
		}
		return all
	}

	var listed []string
	services := ask(&reflectionv1.ServerReflectionRequest{MessageRequest: &reflectionv1.ServerReflectionRequest_ListServices{}})
	for _, s := range services.GetListServicesResponse().GetService() {
		if strings.HasPrefix(s.GetName(), "workloadresizer.") {
			listed = append(listed, strings.TrimPrefix(s.GetName(), "workloadresizer.v1."))
		}
	}
	slices.Sort(listed)
	t.Run("lists the services of the current API only", func(t *testing.T) {
		want := []string{"BenchmarkService", "ClusterService", "ExplainService", "HoldService", "JournalService", "OverrideService", "PlanService", "RatioService", "ResizeService", "StatusService", "UsageService"}
		if diff := cmp.Diff(want, listed); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("describes every method with its comment", func(t *testing.T) {
		for _, service := range listed {
			var set descriptorpb.FileDescriptorSet
			for _, file := range files("workloadresizer.v1." + service) {
				set.File = append(set.File, file)
			}
			described, err := protodesc.FileOptions{AllowUnresolvable: true}.NewFiles(&set)
			if err != nil {
				t.Fatal(err)
			}
			checkComments(t, described, "workloadresizer.v1."+service)
		}
	})
	t.Run("describes what the API imports", func(t *testing.T) {
		if _, ok := files("google.api.field_behavior")["google/api/field_behavior.proto"]; !ok {
			t.Error("field_behavior.proto is missing")
		}
	})
}

// checkComments checks the methods of a service.
func checkComments(t *testing.T, files *protoregistry.Files, service string) {
	t.Helper()
	found, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		t.Fatal(err)
	}
	methods := found.(protoreflect.ServiceDescriptor).Methods()
	for i := range methods.Len() {
		method := methods.Get(i)
		if comment := method.ParentFile().SourceLocations().ByDescriptor(method).LeadingComments; !strings.HasSuffix(strings.TrimSpace(comment), ".") {
			t.Errorf("%s has the comment %q", method.FullName(), comment)
		}
		if movedError("/"+service+"/"+string(method.Name())) != nil {
			t.Errorf("%s has moved", method.FullName())
		}
	}
}
