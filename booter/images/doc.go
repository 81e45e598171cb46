// Package images keeps the files that machines boot: a folder of images, each a
// [Manifest] and the files that it names, kept by what they contain.
//
//	images/NAME.json     the canonical manifest of the image NAME
//	blobs/sha256/HEX     a file, under the SHA-256 of its content
//	tmp/                 what is being staged
//	lock                 locked by the process that stages or removes
//
// A [Store] shows an image only as a whole. Staging copies and hashes every file
// before the first gets its name, and the manifest comes last, so that a crash
// leaves the image as it was, and some temporary files that the next [Open] or
// [Store.Stage] removes. Who reads a file of an image that is staged anew or removed
// goes on reading it.
//
// Opening is cheap: it compares the sizes of files. Contents are checked when they
// are staged (BOOT-9) and by [Store.Verify].
//
// Several processes may use a folder. They take turns in staging and removing;
// readers take no lock and need no right to write. A process learns of the changes
// of others by [Store.Reload], which costs a listing of images/ where nothing
// changed: call it before each decision, or every second.
//
// Symbolic links in the folder are refused, and nothing outside it is opened.
package images
