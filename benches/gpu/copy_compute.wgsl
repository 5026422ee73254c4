// Every texel once in and once out: the cost of a compute pass that does nothing. No blur can be cheaper.

@group(0) @binding(2) var output: texture_storage_2d<STORAGE_FORMAT, write>;

@compute @workgroup_size(WORKGROUP, WORKGROUP)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    if all(id.xy < textureDimensions(output)) {
        textureStore(output, id.xy, textureLoad(source, id.xy, 0));
    }
}
