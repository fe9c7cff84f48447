package reflection

import (
	_ "embed"
	"fmt"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionv1alpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// api is a FileDescriptorSet of the proto files of the API, with comments, without their imports.
// "make generate" writes it.
//
//go:embed api.binpb
var api []byte

// described returns the files of the API with their comments.
var described = sync.OnceValue(func() *protoregistry.Files {
	files, err := describe(api)
	if err != nil {
		// The file is compiled in, so this is a bug.
		panic(fmt.Sprintf("server/reflection: %v", err))
	}
	return files
})

// describe reads a FileDescriptorSet. Imports that it does not contain are those that are compiled
// in.
func describe(set []byte) (*protoregistry.Files, error) {
	var listed descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(set, &listed); err != nil {
		return nil, err
	}
	r := resolver{new(protoregistry.Files)}
	// Files come after those that they import.
	for _, f := range listed.GetFile() {
		file, err := protodesc.NewFile(f, r)
		if err != nil {
			return nil, err
		}
		if err := r.own.RegisterFile(file); err != nil {
			return nil, err
		}
	}
	return r.own, nil
}

// resolver finds our own files with comments, and all other compiled-in files without.
type resolver struct{ own *protoregistry.Files }

// FindFileByPath implements protodesc.Resolver.
func (r resolver) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if file, err := r.own.FindFileByPath(path); err == nil {
		return file, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

// FindDescriptorByName implements protodesc.Resolver.
func (r resolver) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if d, err := r.own.FindDescriptorByName(name); err == nil {
		return d, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}

// Register serves reflection of the services that a server offers.
func Register(to grpc.ServiceRegistrar, offered reflection.ServiceInfoProvider) {
	options := reflection.ServerOptions{Services: offered, DescriptorResolver: resolver{described()}}
	reflectionv1.RegisterServerReflectionServer(to, reflection.NewServerV1(options))
	reflectionv1alpha.RegisterServerReflectionServer(to, reflection.NewServer(options))
}
