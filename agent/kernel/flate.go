package kernel

import (
	"bytes"
	"compress/flate"
	"io"
)

const flateMB = textBytes / 1e6

// newFlate compresses and decompresses text, as HTTP servers and clients do.
func newFlate(int) Work {
	data := sharedText()
	var packed, unpacked bytes.Buffer
	writer, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		panic("create flate writer at the default level: " + err.Error())
	}
	source := bytes.NewReader(nil)
	reader := flate.NewReader(source)
	return func() error {
		packed.Reset()
		unpacked.Reset()
		writer.Reset(&packed)
		if _, err := writer.Write(data); err != nil {
			return err
		}
		if err := writer.Close(); err != nil {
			return err
		}
		source.Reset(packed.Bytes())
		if err := reader.(flate.Resetter).Reset(source, nil); err != nil {
			return err
		}
		if _, err := io.Copy(&unpacked, reader); err != nil {
			return err
		}
		if !bytes.Equal(unpacked.Bytes(), data) {
			return errWrong
		}
		return nil
	}
}
