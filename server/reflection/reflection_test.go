package reflection

import (
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	workloadresizerv1 "github.com/workload-resizer/workload-resizer/proto/workloadresizer/v1"
)

var compiledIn = workloadresizerv1.File_workloadresizer_v1_ratio_proto.Package()

func TestDescribed(t *testing.T) {
	t.Run("describes the API that is compiled in", describesTheAPIThatIsCompiledIn)
	t.Run("has a comment for every method and field", hasACommentForEveryMethodAndField)
	t.Run("rejects what it cannot read", rejectsWhatItCannotRead)
}

func describesTheAPIThatIsCompiledIn(t *testing.T) {
	files := described()
	if own, all := files.NumFilesByPackage(compiledIn), protoregistry.GlobalFiles.NumFilesByPackage(compiledIn); own != all {
		t.Errorf("%d files, %d are compiled in", own, all)
	}
	protoregistry.GlobalFiles.RangeFilesByPackage(compiledIn, func(want protoreflect.FileDescriptor) bool {
		got, err := files.FindFileByPath(want.Path())
		if err != nil {
			t.Error(err)
			return true
		}
		without := protodesc.ToFileDescriptorProto(got)
		without.SourceCodeInfo = nil
		if !proto.Equal(without, protodesc.ToFileDescriptorProto(want)) {
			t.Errorf("%s is out of date, run make generate", want.Path())
		}
		return true
	})
}

func hasACommentForEveryMethodAndField(t *testing.T) {
	commented := func(d protoreflect.Descriptor) {
		if d.ParentFile().SourceLocations().ByDescriptor(d).LeadingComments == "" {
			t.Errorf("%s has no comment", d.FullName())
		}
	}
	described().RangeFilesByPackage(compiledIn, func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			commented(service)
			for j := range service.Methods().Len() {
				commented(service.Methods().Get(j))
			}
		}
		for i := range file.Messages().Len() {
			message := file.Messages().Get(i)
			commented(message)
			for j := range message.Fields().Len() {
				commented(message.Fields().Get(j))
			}
		}
		return true
	})
}

func rejectsWhatItCannotRead(t *testing.T) {
	if _, err := describe([]byte("x")); err == nil {
		t.Error("read a file that is no FileDescriptorSet")
	}
}
